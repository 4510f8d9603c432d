"""The forms in which agents meet secrets: commands, files, headers, labels in ten languages.

`{}` stands where the secret is. A password is made of words and digits, so that nothing but its
form gives it away; a key is what an issuer would make. All are made at run time from a seed, so
that no scanner of this repository finds one.
"""

from __future__ import annotations

import random
import string

_WORDS = ("maple", "otter", "comet", "tulip", "raven", "cedar", "amber", "pixel")

# In each, {} is a password.
PASSWORDS = """\
curl -u deploy:{} https://api.acme.io/v1/jobs
curl --user deploy:{} https://api.acme.io/v1/jobs
curl -sS -X POST -u 'deploy:{}' https://api.acme.io
curl -udeploy:{} https://api.acme.io
curl -U proxyuser:{} -x proxy.acme.io:3128 https://acme.io
curl --proxy-user proxyuser:{} https://acme.io
wget --user=deploy --password={} https://acme.io/a.tgz
wget --http-password={} https://acme.io/a.tgz
http -a deploy:{} https://api.acme.io
mysql -uroot -p{} shop
mysql -h db -u root -p{} -e 'select 1'
mysqldump -u root -p{} shop > shop.sql
mysqladmin -uroot -p'{}' status
mariadb -u root -p{} shop
mysql --password={} -u root shop
docker login -u deploy -p {} ghcr.io
docker login registry.acme.io --username deploy --password {}
podman login -u deploy -p {} quay.io
helm registry login -u deploy -p {} ghcr.io
az login -u ada@acme.io -p {}
oc login -u ada -p {} https://api.acme.io:6443
echo {} | docker login -u deploy --password-stdin
echo '{}' | sudo -S systemctl restart app
PGPASSWORD={} psql -h db -U app shop
PGPASSWORD='{}' pg_dump -h db shop
MYSQL_PWD={} mysql -u root shop
sshpass -p {} ssh deploy@host
sshpass -p '{}' scp a deploy@host:
redis-cli -h cache -a {} ping
redis-cli --pass {} ping
REDISCLI_AUTH={} redis-cli ping
mongosh --username app --password {} shop
mongo -u app -p {} shop
mongodump -u app -p {} --db shop
smbclient //files/share -U ada%{}
ldapsearch -x -D cn=admin,dc=acme -w {} -b dc=acme
sqlcmd -S db -U sa -P {} -Q 'select 1'
openssl rsa -in key.pem -passin pass:{} -out plain.pem
keytool -list -keystore app.jks -storepass {}
zip -P {} out.zip secret.txt
unzip -P {} out.zip
7z x out.7z -p{}
gpg --batch --passphrase {} -d a.gpg
ansible-playbook site.yml -e ansible_become_pass={}
svn checkout --username ada --password {} https://svn.acme.io
mvn deploy -Dpassword={}
java -Djavax.net.ssl.keyStorePassword={} -jar app.jar
net use z: \\\\files\\share {} /user:ada
vault login -method=userpass username=ada password={}
db:5432:shop:app:{}
localhost:5432:*:postgres:{}
machine api.acme.io login deploy password {}
machine api.acme.io\\n  login deploy\\n  password {}
password: {}
Password = {}
password={}
password is {}
the password is `{}`
my password was "{}"
password:\\n  {}
password:\\n    "{}"
Password:\\n{}
password: >-\\n  {}
password: |\\n  {}
"password": "{}"
'password': '{}'
{{"user": "ada", "password": "{}"}}
{{\\"password\\": \\"{}\\"}}
<password>{}</password>
<add key="password" value="{}"/>
<property name="password" value="{}"/>
password => '{}'
:password => "{}",
password := "{}"
$password = '{}';
const password = "{}";
set password "{}"
SET PASSWORD FOR app = PASSWORD('{}');
CREATE USER app WITH PASSWORD '{}';
CREATE USER 'app'@'%' IDENTIFIED BY '{}';
ALTER ROLE app PASSWORD '{}'
export DB_PASSWORD={}
export DB_PASSWORD="{}"
setx DB_PASSWORD {}
set DB_PASSWORD={}
$env:DB_PASSWORD = "{}"
ENV DB_PASSWORD {}
ENV DB_PASSWORD={}
DB_PASS={}
DB_PWD={}
TF_VAR_db_password={}
  db_password = "{}"
  password  = "{}" # rotated in May
spring.datasource.password={}
Server=db;Database=shop;User Id=sa;Password={};
Server=db;Database=shop;Uid=sa;Pwd={};
host=db port=5432 dbname=shop user=app password={}
postgres://app:{}@db:5432/shop
postgresql+asyncpg://app:{}@db/shop
mysql://app:{}@db/shop
mongodb+srv://app:{}@cluster0.acme.mongodb.net/shop
redis://:{}@cache:6379/0
amqp://app:{}@mq/vhost
ftp://ada:{}@files.acme.io/
https://ada:{}@git.acme.io/repo.git
jdbc:mysql://db/shop?user=app&password={}
jdbc:oracle:thin:app/{}@db:1521:shop
sqlserver://db;user=sa;password={}
smtp://mail:{}@smtp.acme.io:587
https://acme.io/login?user=ada&password={}
Passwort: {}
Das Passwort ist {}
Das Passwort lautet {}
Kennwort: {}
Kennwort = "{}"
mot de passe : {}
Mot de passe: {}
Le mot de passe est {}
contraseña: {}
Contraseña = {}
La contraseña es {}
clave: {}
senha: {}
A senha é {}
parola d'ordine: {}
wachtwoord: {}
hasło: {}
lösenord: {}
şifre: {}
Пароль: {}
пароль — {}
пароль {}
密码：{}
密码: {}
密码是{}
密碼：{}
口令：{}
パスワード：{}
パスワードは{}です
パスワード: {}
비밀번호: {}
암호: {}
<cat > .env <<EOF\\nDB_PASSWORD={}\\nEOF
| password | {} |
- **Password:** {}
- Password: `{}`
user: ada / password: {}
--password {}
--password={}
--db-password "{}"
password {}
pwd: {}
pass: {}
passphrase: {}
Enter passphrase: {}
login: ada password: {}
username=ada&password={}&grant_type=password
ansible_ssh_pass={}
ansible_password: {}
IDENTIFIED BY {}
requirepass {}
masterauth {}
rootpw {}
secret-password: {}
POSTGRES_PASSWORD: {}
      - POSTGRES_PASSWORD={}
      MYSQL_ROOT_PASSWORD: "{}"
""".strip().split("\n")

# In each, {} is a pass phrase of five words.
PHRASES = """\
password: "{}"
password = '{}'
passphrase: "{}"
"passphrase": "{}"
DB_PASSWORD="{}"
passphrase is "{}"
ssh-keygen -N "{}" -f key
Passwort: "{}"
密码："{}\"""".split("\n")

# In each, {} is forty letters and digits, or what the second part says.
KEYS = """\
Authorization: Token {}
Authorization: token {}
Authorization: Bearer {}
Authorization: ApiKey {}
Authorization: {}
Authorization: Basic {base64}
-H "Authorization: Token {}"
-H 'Authorization: Basic {base64}'
Proxy-Authorization: Basic {base64}
"Authorization": "Token {}"
X-Api-Key: {}
X-API-KEY: {hex}
X-Auth-Token: {hex}
PRIVATE-TOKEN: {}
x-amz-security-token: {}
Ocp-Apim-Subscription-Key: {hex}
apikey: {hex}
api_key={hex}
?api_key={hex}
&access_token={}
?token={hex}
?sig={base64}
Cookie: sessionid={hex}
Cookie: session={}; theme=dark
Set-Cookie: connect.sid={}; Path=/; HttpOnly
Set-Cookie: JSESSIONID={hex}; Path=/
set-cookie: _gh_sess={}; path=/
-b "session={}"
--cookie "sessionid={hex}"
//registry.npmjs.org/:_authToken={}
//registry.npmjs.org/:_authToken={uuid}
//npm.acme.io/:_password={base64}
_auth={base64}
_auth = "{base64}"
npmAuthToken: "{}"
index-url = https://deploy:{}@pypi.acme.io/simple
pip install --index-url https://deploy:{}@pypi.acme.io/simple app
--extra-index-url https://{}@pypi.acme.io/simple
https://{}@github.com/acme/app.git
https://x-access-token:{}@github.com/acme/app.git
https://oauth2:{}@gitlab.acme.io/app.git
    token: {}
    client-key-data: {base64}
    id-token: {}
    refresh-token: {}
"auth": "{base64}"
"identitytoken": "{}"
aws_secret_access_key = {}
AWS_SECRET_ACCESS_KEY={}
AWS_SESSION_TOKEN={}
aws configure set aws_secret_access_key {}
AccountKey={base64};EndpointSuffix=core.windows.net
SharedAccessKey={base64}
SharedAccessSignature sr=x&sig={base64}
client_secret={}
"client_secret": "{}"
clientSecret: {}
ARM_CLIENT_SECRET={}
SECRET_KEY = '{}'
SECRET_KEY_BASE={hex}
django-insecure-{}
secret_key: {hex}
encryption_key: {hex}
signing_key = "{hex}"
JWT_SECRET={}
jwt.secret={hex}
webhook_secret: {hex}
access_token: {}
"access_token":"{}"
"refresh_token": "{}"
token = "{}"
token {}
TOKEN={}
export API_TOKEN={}
export GH_TOKEN="{}"
apiVersion: v1\\nkind: Secret\\ndata:\\n  password: {base64}
kind: Secret\\nstringData:\\n  anything: {}
kind: Secret\\ndata:\\n  db: {base64}
kubectl create secret generic db --from-literal=anything={}
kubectl config set-credentials ada --token={}
helm install app --set auth.token={}
vault kv put secret/app value={}
gh secret set DEPLOY --body {}
gh auth login --with-token <<< {}
credentials "app.terraform.io" {{ token = "{}" }}
  "sensitive_values": {{"token": "{}"}}
Schlüssel: {}
API-Schlüssel: {}
Zugangsschlüssel = {}
clé d'API : {}
clé secrète: {}
jeton : {}
clave secreta: {}
llave: {}
chave: {}
ключ: {}
API-ключ: {}
токен: {}
секрет: {}
密钥：{}
API密钥: {}
令牌：{}
APIキー：{}
トークン: {}
シークレット：{}
토큰: {}
key: {}
api key is {}
The token is `{}`
my API key: {}
OPENAI_KEY={}""".split("\n")

_BEGIN = "-----BEGIN {}PRIVATE KEY-----"
_END = "-----END {}PRIVATE KEY-----"
# A private key in one line, broken by an escape, or in a block; {} is one line of it.
BLOCKS = (
    '"private_key": "' + _BEGIN.format("") + "\\n{}\\n{}\\n" + _END.format("") + '\\n"',
    'KEY="' + _BEGIN.format("RSA ") + "\\n{}\\n" + _END.format("RSA ") + '"',
    "key: |\n  " + _BEGIN.format("EC ") + "\n  {}\n  {}\n  " + _END.format("EC "),
    _BEGIN.format("OPENSSH ") + "\n{}\n{}\n" + _END.format("OPENSSH "),
    _BEGIN.format("ENCRYPTED ") + " {} {} " + _END.format("ENCRYPTED "),
    "cat > key.pem <<EOF\n" + _BEGIN.format("") + "\n{}\n" + _END.format("") + "\nEOF",
    "PuTTY-User-Key-File-3: ssh-ed25519\nEncryption: none\nPrivate-Lines: 1\n{}\nPrivate-MAC: 1",
    "-----BEGIN PGP PRIVATE KEY BLOCK-----\n\n{}\n{}\n-----END PGP PRIVATE KEY BLOCK-----",
)


def cases(seed: int = 28) -> list[tuple[str, str]]:
    """(text, secret) of every form; the secret must not be left in the redacted text."""
    draw = random.Random(seed)
    found = []
    for form in PASSWORDS:
        word = draw.choice(_WORDS).capitalize() + draw.choice(_WORDS) + str(draw.randrange(10, 99))
        found.append((_filled(form, word), word))
    for form in PHRASES:
        phrase = " ".join(draw.sample(_WORDS, 5))
        found.append((_filled(form, phrase), phrase))
    for form in KEYS:
        name, secret = next((n, s) for n, s in _made(draw).items() if "{" + n + "}" in form)
        found.append((_filled(form, secret, name), secret))
    for form in BLOCKS:
        line = "".join(draw.choices(string.ascii_letters + string.digits + "+/", k=64))
        found.append((form.replace("{}", line), line))
    return found


def _made(draw: random.Random) -> dict[str, str]:
    letters = string.ascii_letters + string.digits
    digits = "0123456789abcdef"
    return {
        "": "".join(draw.choices(letters, k=40)),
        "hex": "".join(draw.choices(digits, k=32)),
        "base64": "".join(draw.choices(letters, k=38)) + "==",
        "uuid": "-".join("".join(draw.choices(digits, k=k)) for k in (8, 4, 4, 4, 12)),
    }


def _filled(form: str, secret: str, name: str = "") -> str:
    text = form.replace("{" + name + "}", "\0").replace("{{", "{").replace("}}", "}")
    return text.replace("\\n", "\n").replace("\\\\", "\\").replace("\0", secret)


# What has a word or a form of the above, and no secret.
HARMLESS = """\
PASS: TestX
{"Action":"output","Package":"a/b","Test":"TestX1","Output":"--- PASS: TestX1 (0.00s)\\n"}
{"Time":"2025-10-23T18:05:00Z","Output":"    --- PASS: TestServer/http2_get (0.01s)\\n"}
    PASS: test_transfer_of_4711
PASS: tests/unit/test_money.py::test_v2
PASS: TestLoginWithRetry (0.02s)
--- PASS: TestParse/empty_input (0.00s)
=== RUN   TestPassword123
--- FAIL: TestAuthKey7AbCdEf0123456789 (0.00s)
FAILED TestAuthKey7AbCdEf0123456789: want 3, got 4
FAIL: test_refund_rounds_down (tests.test_money.Refunds)
XPASS: tests/test_a.py::test_b
PASS tests/login.test.tsx (5.2s)
PASS  src/password/reset2.spec.ts
ok: 12 passed, 0 failed
pass: 12, fail: 3, skip: 1
pass rate: 98.5%
passed: 1204
bypass: enabled2
Passes: 3 of 4
compass: north12
token count: 5
tokens: 26962
max_tokens: 200000
token: word
token: string
tokenizer: cl100k_base
next_token: identifier17
keyboard: qwerty12
key: value
key: name2
primary key: customer_id2
foreign key: order_items_v2
sort key: created_at2
the key is where the door was
KEY (customer_id) REFERENCES customers (id)
Key binding: Ctrl+Shift+F12
key=lambda item: item.created_at2
for key, value in settings.items():
author: Ada Lovelace 1843
authors: 12
authenticated: true
auth: required
Authorization: Bearer <token>
Authorization: Basic <credentials>
Authorization: none
authorization: granted
secret: false
secrets: 2 found
secret: "${DB_SECRET}"
password: ********
password: <your password>
password: ${DB_PASSWORD}
password: {{ db_password }}
password: str
password: string
password: null
password: required
password: Optional[str] = None
password is required
password was changed yesterday
password must be at least 12 characters
password reset for user 12345678 failed
the password is stored hashed with argon2id
password_hash: bcrypt
def check_password(self, password: str) -> bool:
if password == expected:
password = os.environ["DB_PASSWORD"]
password = getpass.getpass()
password = request.form['password']
password=password
--password PASSWORD
-p PORT
-p 8080:80
docker run -p 8080:80 nginx
docker run -u 1000:1000 app
ssh -p 2222 deploy@host
mkdir -p build/output1
curl -u "$USER:$PASSWORD" https://api.acme.io
curl -u user:password https://api.acme.io
mysql -u root -p shop
mysql -uroot -p < dump.sql
mysql -P 3306 -h db
redis-cli -a "$REDIS_PASSWORD" ping
docker login -u deploy --password-stdin
cp -p file1 file2
tar -p -xf a.tar
git log -p HEAD~10
chmod u+x run.sh
psql -h db -p 5432 -U app
Passwort: erforderlich
Passwort vergessen?
mot de passe : obligatoire
contraseña: obligatoria
clave: valor
Пароль: обязателен
密码：必填
密码错误
パスワード：必須
Cookie: theme=dark
Set-Cookie: lang=en; Path=/
kind: ConfigMap
data:
machine learning login page
machine: x86_64
login: ada
pwd: /home/ada/src
PWD=/home/ada/src/app
OLDPWD=/home/ada
pwd
cd "$(pwd)"
passwd: files systemd
certificate key usage: digitalSignature
api_key: null
api_key: "YOUR_API_KEY"
access_key: id
credential: helper
credential.helper=osxkeychain
session: 20251023-171812-20251023171813
sessionid: none
Private key: not found
public key: ssh-ed25519
token_type: bearer
grant_type: password
"type": "password"
<input type="password" name="password">
label for="password">Password</label>
error: invalid token at position 42
Unexpected token '}' in JSON at position 4711
SyntaxError: Unexpected token < in JSON
token expired at 2025-10-23T18:05:00Z
unlock: passphrase prompt""".split("\n")
