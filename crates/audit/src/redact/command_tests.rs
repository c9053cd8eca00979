//! Rows for secrets in command lines: by program, by option, by the name of a variable.

use std::fmt::Write as _;

use super::Redactor;

/// Each row holds a secret, written `S3CR` with more letters behind it, and the mark that takes its place.
const SECRET: &[(&str, &str)] = &[
    // By program.
    ("mysql -pS3CRET db", "mysql -p[redacted:password] db"),
    ("mysql -u root -pS3CRET", "mysql -u root -p[redacted:password]"),
    ("/usr/bin/mysql -uroot -pS3CRET", "/usr/bin/mysql -uroot -p[redacted:password]"),
    ("mysql -p'S3C RET' db", "mysql -p'[redacted:password]' db"),
    ("mysql -p\"S3C RET\" db", "mysql -p\"[redacted:password]\" db"),
    ("mysql '-pS3C RET' db", "mysql '-p[redacted:password]' db"),
    (
        "mysqldump --single-transaction -pS3CRET db > x.sql",
        "mysqldump --single-transaction -p[redacted:password] db > x.sql",
    ),
    ("mysqladmin -pS3CRET status", "mysqladmin -p[redacted:password] status"),
    ("mariadb -pS3CRET -e 'select 1; select 2'", "mariadb -p[redacted:password] -e 'select 1; select 2'"),
    ("mysql -e 'select 1; select 2' -pS3CRET", "mysql -e 'select 1; select 2' -p[redacted:password]"),
    (
        "mysql -e \"a|b\" -h \"$(cat host)\" -pS3CRET",
        "mysql -e \"a|b\" -h \"$(cat host)\" -p[redacted:password]",
    ),
    ("docker exec db mysql -pS3CRET", "docker exec db mysql -p[redacted:password]"),
    ("sudo -u root mysql -pS3CRET", "sudo -u root mysql -p[redacted:password]"),
    ("sshpass -p S3CRET ssh -p 22 host", "sshpass -p [redacted:password] ssh -p 22 host"),
    ("sshpass -pS3CRET ssh host", "sshpass -p[redacted:password] ssh host"),
    ("sshpass -p 'S3C RET' scp -P 22 a b:", "sshpass -p '[redacted:password]' scp -P 22 a b:"),
    ("curl -u bob:S3CRET https://x", "curl -u bob:[redacted:basic] https://x"),
    ("curl -sSu bob:S3CRET https://x", "curl -sSu bob:[redacted:basic] https://x"),
    ("curl -ubob:S3CRET https://x", "curl -ubob:[redacted:basic] https://x"),
    ("curl --user=bob:S3CRET https://x", "curl --user=bob:[redacted:basic] https://x"),
    ("curl 'https://x?a=1&b=2' --user bob:S3CRET", "curl 'https://x?a=1&b=2' --user bob:[redacted:basic]"),
    ("curl -U p:S3CRET -x proxy https://x", "curl -U p:[redacted:basic] -x proxy https://x"),
    ("curl --oauth2-bearer S3CRET https://x", "curl --oauth2-bearer [redacted:bearer] https://x"),
    (
        "curl -H 'Authorization: Bearer S3CRET' https://x",
        "curl -H 'Authorization: [redacted:authorization]' https://x",
    ),
    ("curl -b 'sid=S3CRET' https://x", "curl -b 'sid=[redacted:authorization]' https://x"),
    ("wget --password=S3CRET https://x", "wget --password=[redacted:password] https://x"),
    ("wget --http-password S3CRET https://x", "wget --http-password [redacted:password] https://x"),
    ("http -a bob:S3CRET GET x.org", "http -a bob:[redacted:basic] GET x.org"),
    ("redis-cli -a S3CRET ping", "redis-cli -a [redacted:password] ping"),
    ("redis-cli -h db --pass S3CRET ping", "redis-cli -h db --pass [redacted:password] ping"),
    ("PGPASSWORD=S3CRET psql -h db", "PGPASSWORD=[redacted:password] psql -h db"),
    ("psql postgres://bob:S3CRET@db/x", "psql postgres://bob:[redacted:url-password]@db/x"),
    ("psql 'host=db password=S3CRET'", "psql 'host=db password=[redacted:password]'"),
    ("mongosh -u bob -p S3CRET", "mongosh -u bob -p [redacted:password]"),
    ("mongo -pS3CRET", "mongo -p[redacted:password]"),
    ("mongodump --password S3CRET", "mongodump --password [redacted:password]"),
    ("sqlcmd -S h -U sa -P S3CRET", "sqlcmd -S h -U sa -P [redacted:password]"),
    ("sqlplus bob/S3CRET@db", "sqlplus bob/[redacted:password]"),
    ("docker login -u bob -p S3CRET reg.io", "docker login -u bob -p [redacted:password] reg.io"),
    ("podman login --password=S3CRET reg.io", "podman login --password=[redacted:password] reg.io"),
    ("az login -u bob -p S3CRET", "az login -u bob -p [redacted:password]"),
    ("gcloud auth x --access-token S3CRET", "gcloud auth x --access-token [redacted:token]"),
    ("kubectl --token S3CRET get pods", "kubectl --token [redacted:token] get pods"),
    ("kubectl --token=S3CRET get pods", "kubectl --token=[redacted:token] get pods"),
    (
        "kubectl create secret generic x --from-literal=k=S3CRET",
        "kubectl create secret generic x --from-literal=k=[redacted:secret]",
    ),
    ("vault login S3CRET", "vault login [redacted:token]"),
    ("cargo login S3CRET", "cargo login [redacted:token]"),
    (
        "aws configure set aws_secret_access_key S3CRET",
        "aws configure set aws_secret_access_key [redacted:secret]",
    ),
    ("npm config set _authToken S3CRET", "npm config set _authToken [redacted:token]"),
    ("npm config set //r.io/:_authToken=S3CRET", "npm config set //r.io/:_authToken=[redacted:token]"),
    ("gh secret set NAME --body S3CRET", "gh secret set NAME --body [redacted:secret]"),
    ("ngrok config add-authtoken S3CRET", "ngrok config add-authtoken [redacted:token]"),
    ("openssl rsa -in k -passin pass:S3CRET", "openssl rsa -in k -passin pass:[redacted:password]"),
    ("openssl pkcs12 -passout pass:S3CRET -out x", "openssl pkcs12 -passout pass:[redacted:password] -out x"),
    ("openssl enc -aes-256-cbc -k S3CRET", "openssl enc -aes-256-cbc -k [redacted:secret]"),
    ("openssl passwd -6 S3CRET", "openssl passwd -6 [redacted:password]"),
    ("ldapsearch -x -D cn=x -w S3CRET", "ldapsearch -x -D cn=x -w [redacted:password]"),
    ("smbclient //h/s -U bob%S3CRET", "smbclient //h/s -U bob%[redacted:password]"),
    ("net rpc shutdown -U bob%S3CRET -S h", "net rpc shutdown -U bob%[redacted:password] -S h"),
    (
        "mount -t cifs -o user=x,password=S3CRET //h/s /m",
        "mount -t cifs -o user=x,password=[redacted:password] //h/s /m",
    ),
    ("git clone https://bob:S3CRET@x.org/r", "git clone https://bob:[redacted:url-password]@x.org/r"),
    ("gpg --batch --passphrase S3CRET -d x", "gpg --batch --passphrase [redacted:password] -d x"),
    ("7z x -pS3CRET a.7z", "7z x -p[redacted:password] a.7z"),
    ("rar a -hpS3CRET a.rar b", "rar a -hp[redacted:password] a.rar b"),
    ("zip -P S3CRET a.zip b", "zip -P [redacted:password] a.zip b"),
    ("zip -rP S3CRET a.zip b", "zip -rP [redacted:password] a.zip b"),
    ("unzip -P S3CRET a.zip", "unzip -P [redacted:password] a.zip"),
    (
        "ansible-playbook x.yml --extra-vars 'db_password=S3CRET a=b'",
        "ansible-playbook x.yml --extra-vars 'db_password=[redacted:password] a=b'",
    ),
    (
        "ansible h --extra-vars '{\"become_pass\": \"S3CRET\"}'",
        "ansible h --extra-vars '{\"become_pass\": \"[redacted:password]\"}'",
    ),
    ("htpasswd -b f bob S3CRET", "htpasswd -b f bob [redacted:password]"),
    ("htpasswd -nbB bob S3CRET", "htpasswd -nbB bob [redacted:password]"),
    ("ssh-keygen -t ed25519 -N S3CRET -f k", "ssh-keygen -t ed25519 -N [redacted:password] -f k"),
    ("keytool -storepass S3CRET -list", "keytool -storepass [redacted:password] -list"),
    ("plink -pw S3CRET host", "plink -pw [redacted:password] host"),
    ("xfreerdp /u:bob /p:S3CRET /v:h", "xfreerdp /u:bob /p:[redacted:password] /v:h"),
    ("lftp -u bob,S3CRET h", "lftp -u bob,[redacted:password] h"),
    ("nmcli d wifi connect x password S3CRET", "nmcli d wifi connect x password [redacted:password]"),
    ("tailscale up --authkey S3CRET", "tailscale up --authkey [redacted:token]"),
    // Lines inside lines, lists, objects, lines that no shell accepts.
    ("sh -c 'mysql -pS3CRET db'", "sh -c 'mysql -p[redacted:password] db'"),
    ("bash -c \"cd x && mysql -pS3CRET\"", "bash -c \"cd x && mysql -p[redacted:password]\""),
    ("mysql -pS3CRET 'never closed", "mysql -p[redacted:password] 'never closed"),
    ("if ( mysql -pS3CRET ; then", "if ( mysql -p[redacted:password] ; then"),
    ("don't; mysql -p'S3C RET' x", "don't; mysql -p'[redacted:password]' x"),
    (
        "echo $(mysql -pS3CRET) `mysql -pS3CRET`",
        "echo $(mysql -p[redacted:password]) `mysql -p[redacted:password]`",
    ),
    ("mysql \\\n  -pS3CRET", "mysql \\\n  -p[redacted:password]"),
    ("[\"mysql\",\"-pS3CRET\",\"db\"]", "[\"mysql\",\"-p[redacted:password]\",\"db\"]"),
    (
        "[\"sshpass\", \"-p\", \"S3C RET\", \"ssh\"]",
        "[\"sshpass\", \"-p\", \"[redacted:password]\", \"ssh\"]",
    ),
    (
        "{\"command\":\"sshpass\",\"args\":[\"-p\",\"S3CRET\",\"ssh\"]}",
        "{\"command\":\"sshpass\",\"args\":[\"-p\",\"[redacted:password]\",\"ssh\"]}",
    ),
    (
        "{\"command\":\"mysql -pS3CRET\",\"timeout\":5}",
        "{\"command\":\"mysql -p[redacted:password]\",\"timeout\":5}",
    ),
    (
        "{\"command\":\"mysql -p\\\"S3C RET\\\" db\"}",
        "{\"command\":\"mysql -p\\\"[redacted:password]\\\" db\"}",
    ),
    (
        "{\"command\":\"cd x\\nmysql -p'S3C RET'\\nls\"}",
        "{\"command\":\"cd x\\nmysql -p'[redacted:password]'\\nls\"}",
    ),
    (
        "{\"command\":\"ls\",\"env\":{\"DBPASS\":\"S3CRET\",\"A\":\"b\"}}",
        "{\"command\":\"ls\",\"env\":{\"DBPASS\":\"[redacted:password]\",\"A\":\"b\"}}",
    ),
    (
        "{\"arguments\":\"{\\\"command\\\":\\\"mysql -pS3CRET\\\"}\"}",
        "{\"arguments\":\"{\\\"command\\\":\\\"mysql -p[redacted:password]\\\"}\"}",
    ),
    // By the name of a variable.
    ("DBPASS=S3CRET ./run", "DBPASS=[redacted:password] ./run"),
    ("SSHPASS=S3CRET sshpass -e ssh h", "SSHPASS=[redacted:password] sshpass -e ssh h"),
    ("export DB_PASSWD=S3CRET", "export DB_PASSWD=[redacted:password]"),
    ("MYSQL_PWD=S3CRET mysql", "MYSQL_PWD=[redacted:password] mysql"),
    ("env CLIENT_SECRET=S3CRET x", "env CLIENT_SECRET=[redacted:secret] x"),
    ("GH_TOKEN=S3CRET gh pr list", "GH_TOKEN=[redacted:token] gh pr list"),
    ("GITHUB_TOKEN_2=S3CRET x", "GITHUB_TOKEN_2=[redacted:token] x"),
    ("DB_PASSWORD_PROD=S3CRET x", "DB_PASSWORD_PROD=[redacted:password] x"),
    ("SECRET_KEY_BASE=S3CRET rails s", "SECRET_KEY_BASE=[redacted:secret-key] rails s"),
    ("STRIPE_API_KEY=S3CRET x", "STRIPE_API_KEY=[redacted:api-key] x"),
    ("OPENAI_APIKEY='S3C RET' x", "OPENAI_APIKEY='[redacted:api-key]' x"),
    ("AWS_SECRET_ACCESS_KEY=S3CRET aws s3 ls", "AWS_SECRET_ACCESS_KEY=[redacted:access-key] aws s3 ls"),
    ("PRIVATE_KEY=S3CRET x", "PRIVATE_KEY=[redacted:private-key] x"),
    ("AZURE_CREDENTIAL=S3CRET x", "AZURE_CREDENTIAL=[redacted:credential] x"),
    ("REDIS_AUTH=S3CRET x", "REDIS_AUTH=[redacted:authorization] x"),
    (
        "docker run -e MYSQL_ROOT_PASSWORD=S3CRET -p 80:80 mysql",
        "docker run -e MYSQL_ROOT_PASSWORD=[redacted:password] -p 80:80 mysql",
    ),
];

/// Nothing in these is a secret.
const HARMLESS: &[&str] = &[
    "mkdir -p x",
    "mkdir -p mysql/data && cd mysql",
    "ssh -p 22 host",
    "scp -P 22 a b:",
    "mysql -p db",
    "mysql -p -u root",
    "mysql --protocol=tcp -P 3306 db",
    "mysql -u root -h db; mkdir -p x",
    "PWD=/x OLDPWD=/y make",
    "TOKENIZERS_PARALLELISM=false python x.py",
    "docker run -p 80:80 nginx",
    "docker run -p 80:80 -u root:root mysql",
    "docker login; docker run -p 80:80 x",
    "podman run --publish 8080:80 x",
    "curl -u $USER:$PASS https://x",
    "curl -u \"$LOGIN\" https://x",
    "curl -b cookies.txt https://x",
    "curl https://x:8080/a?b=c:d",
    "openssl rsa -passin env:PW -in k",
    "openssl req -key k.pem -keyout x",
    "openssl x509 -in a -noout",
    "ldapsearch -x -W -y file",
    "smbclient //h/s -U bob",
    "sshpass -f file ssh -p 2222 host",
    "sshpass -e ssh -p 2222 host",
    "zip -r a.zip b; cp -P a b",
    "unzip -p a.zip x",
    "7z a -p x.7z",
    "ssh-keygen -t ed25519 -N '' -f k",
    "http GET x.org a==b",
    "vault kv get secret/x",
    "kubectl get secret x -o yaml",
    "htpasswd file bob",
    "redis-cli -h db -p 6379 ping",
    "BYPASS=cache CACHE_BYPASS=on x",
    "SSH_AUTH_SOCK=/run/x auth=basic",
    "PASSWORD_FILE=/run/secrets/x TOKEN_FILE=/x",
    "MAX_TOKENS=4096 TOKEN_COUNT_2=12",
    "the net result; an az and an ab -n 5",
    "gpg --passphrase-file f -d x",
    "mysql -p$PASS db",
    "mysql -p\"$PASS\" db",
    "mysql -p$(cat f) db",
    "[\"mysql\",\"-p\",\"db\"]",
    "{\"command\":\"mysql -p\",\"cwd\":\"/x\"}",
    "git log -p mysql",
    "cargo test -p redis-cli",
    "npm install -g http-server -a x",
];

#[test]
fn secrets_in_command_lines() {
    assert!(SECRET.len() >= 80);
    let mut wrong = String::new();
    for (text, wanted) in SECRET {
        let redacted = Redactor::new().redact(text).into_owned();
        if redacted != *wanted || Redactor::new().redact(&redacted) != redacted {
            writeln!(wrong, "{text}\n  is     {redacted}\n  not as {wanted}").unwrap();
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn command_lines_without_secrets() {
    for text in HARMLESS {
        assert_eq!(Redactor::new().redact(text), *text);
    }
}
