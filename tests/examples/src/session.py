def start(s):
    log.info("started %s", s.token)
    return s.id  # the id
