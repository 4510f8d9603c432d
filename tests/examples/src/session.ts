export function start(session: Session): string {
  log.info(`started ${session.token}`);
  return session.id; // the id
}
