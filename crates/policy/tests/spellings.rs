//! One rule on a command, and the commands that are the same in another spelling.
#![allow(clippy::unwrap_used, reason = "tests may unwrap")]

use ringfence_policy::{Argv, Certainty, CommandPattern, Effect, Program, Word};

/// A rule, commands that it meets and commands that it does not meet.
type Row = (&'static str, &'static [&'static str], &'static [&'static str]);

const ROWS: &[Row] = &[
    (
        "rm -rf",
        &[
            "rm -rf x",
            "rm -fr x",
            "rm -r -f x",
            "rm -f -r x",
            "rm -Rf x",
            "rm -fR x",
            "rm -rfv x",
            "rm -vfr x",
            "rm -f x -r",
            "rm x -rf",
            "rm x y -f -R",
            "rm --recursive --force x",
            "rm --force --recursive x",
            "rm --recursive -f x",
            "rm --recurs --forc x",
            "rm --r --f x",
            "rm -r x --force",
            "/bin/rm -fr x",
            "rm -fr -- x",
            "rm -rf",
            "rm -r *",
            "rm --rec* -f",
            "rm $x",
        ],
        &[
            "rm -r x",
            "rm -f x",
            "rm x",
            "rm -r -- -f",
            "rm -- -fr x",
            "rm --force x",
            "rm -rv --verbose x",
            "rmdir -rf x",
        ],
    ),
    (
        "rm -r",
        &["rm -R x", "rm --recursive x", "rm -dR x", "rm --recu x"],
        &["rm -f x", "rm --force x", "rm -- -R"],
    ),
    ("rm --recursive", &["rm -r x", "rm -R x", "rm -fr x", "rm x -Rv"], &["rm -f x", "rm -i x"]),
    (
        "rm -rf /",
        &["rm -fr /", "rm -r -f //", "rm --force / -R", "rm -rf /.", "rm -rf /usr/..", "rm -rf /*"],
        &["rm -rf /usr", "rm -r /", "rm -rf x"],
    ),
    ("rm -rf /*", &["rm -fr /*", "rm -r -f /etc"], &["rm -fr x"]),
    ("rm -rf ~", &["rm -fr ~", "rm -f -R x ~"], &["rm -fr x"]),
    (
        "rm -rf .",
        &["rm -fr .", "rm -fr ./", "rm -fr ./.", "rm -R a . -f"],
        &["rm -fr ..", "rm -fr a", "rm -r ."],
    ),
    ("rm -rf ..", &["rm -fr ..", "rm -fr ../", "rm -fr ./.."], &["rm -fr .", "rm -fr ../x"]),
    (
        "ls /",
        &["ls /", "ls //", "ls ///", "ls /.", "ls -l /", "ls / -a", "ls /usr/.."],
        &["ls /usr", "ls", "ls x"],
    ),
    (
        "cp -r",
        &["cp -R a b", "cp --recursive a b", "cp -vR a b", "cp a b -r"],
        &["cp a b", "cp -t r a", "cp -l a b"],
    ),
    (
        "cp --target-directory=/etc",
        &[
            "cp -t /etc x",
            "cp -t/etc x",
            "cp --target-directory /etc x",
            "cp -vt /etc x",
            "cp --target=/etc x",
        ],
        &["cp -t /tmp x"],
    ),
    ("mv -f", &["mv --force a b", "mv -vf a b", "mv a b --forc"], &["mv -n a b", "mv a b"]),
    ("ln -sf", &["ln -fs a b", "ln --symbolic --force a b", "ln -s a b -f"], &["ln -s a b", "ln -f a b"]),
    (
        "chmod -R 777",
        &[
            "chmod -R 777 x",
            "chmod --recursive 777 x",
            "chmod 777 -R x",
            "chmod -vR 777 x",
            "chmod 777 x --rec",
        ],
        &["chmod 777 x", "chmod -R 755 x"],
    ),
    (
        "chown -R root",
        &[
            "chown --recursive root x",
            "chown root -hR x",
            "chown --from=a -R root x",
            "chown --from a root x -R",
        ],
        &["chown root x"],
    ),
    ("chgrp --recursive", &["chgrp -R g x", "chgrp -cR g x"], &["chgrp g x"]),
    (
        "find -delete",
        &["find . -name x -delete", "find -delete", "find a b -type f -delete"],
        &["find . -name delete", "find ."],
    ),
    (
        "find -exec rm",
        &["find . -exec rm {} +", "find . -name x -exec rm {} \\;"],
        &["find . -exec ls {} +", "find . -name rm"],
    ),
    (
        "git push --force",
        &[
            "git push --force",
            "git push -f",
            "git push origin main -f",
            "git push -fu origin main",
            "git push -uf origin main",
            "git -C x push -f",
            "git -C x push origin --force",
            "git --no-pager push origin main -f",
            "git -c a.b=c push -f",
            "git -ca.b=c push -f",
            "git --git-dir x --work-tree=y push -f",
            "git --git-dir=x push -qf",
            "git push -o x -f",
            "/usr/bin/git push -f",
            "git -P push --forc",
            "git push $x",
        ],
        &[
            "git push",
            "git push --force-with-lease",
            "git push --force-with-lease=a:b",
            "git push --force-if-includes",
            "git push -u origin main",
            "git push origin +main",
            "git push origin -- -f",
            "git push -of",
            "git fetch -f",
            "git -C push status -f",
            "git commit -m push -f",
        ],
    ),
    (
        "git push --force-with-lease",
        &["git push --force-with-lease=x", "git push origin --force-with-l"],
        &["git push -f", "git push"],
    ),
    (
        "git push -f",
        &["git push --force", "git push origin --forc"],
        &["git push --force-with-lease", "git push --follow-tags"],
    ),
    (
        "git push --force*",
        &["git push -f", "git push --force-with-lease", "git -C x push -qf"],
        &["git push", "git push -q"],
    ),
    (
        "git push --delete",
        &["git push -d origin x", "git push origin -d x", "git push origin --del x"],
        &["git push origin x"],
    ),
    (
        "git reset --hard",
        &["git reset HEAD~1 --hard", "git -C a reset --hard", "git reset --har"],
        &["git reset --soft", "git reset"],
    ),
    (
        "git clean -fdx",
        &["git clean -xdf", "git clean -f -d -x", "git clean -x -d --force", "git clean -xfd -q"],
        &["git clean -fd", "git clean -n", "git clean -e x -df"],
    ),
    (
        "git commit --no-verify",
        &["git commit -n -m x", "git commit -nm x", "git commit -anm x", "git commit -m x --no-ver"],
        &["git commit -m n", "git commit -mn", "git commit -am n"],
    ),
    (
        "git commit --amend",
        &["git commit -a --amend", "git commit --amen"],
        &["git commit -a", "git commit -m amend"],
    ),
    (
        "git branch -D",
        &["git branch -D x", "git branch x -D", "git branch -qD x"],
        &["git branch -d x", "git branch"],
    ),
    ("git branch --delete --force", &["git branch -df x", "git branch -f -d x"], &["git branch -d x"]),
    (
        "git checkout --force",
        &["git checkout -f", "git checkout main -f", "git checkout -fb x"],
        &["git checkout -b f", "git checkout -bf"],
    ),
    ("git stash drop", &["git stash drop", "git --no-pager stash drop -q"], &["git stash", "git stash pop"]),
    (
        "git remote rm",
        &["git remote remove x", "git remote rm x", "git -C a remote -v remove x"],
        &["git remote add x", "git rm x"],
    ),
    ("git config --global", &["git config --global a b", "git config a b --glob"], &["git config a b"]),
    ("git * -f", &["git push --force", "git add -f", "git clean --force"], &["git push", "git commit -a"]),
    (
        "curl -o /etc/**",
        &[
            "curl -o /etc/x u",
            "curl -o/etc/x u",
            "curl --output /etc/x u",
            "curl --output=/etc/x u",
            "curl -so /etc/x u",
            "curl -sLo/etc/x u",
            "curl --outp /etc/x u",
            "curl u -o ../etc/x",
        ],
        &["curl -o x u", "curl -O u", "curl u"],
    ),
    (
        "curl --insecure",
        &["curl -k u", "curl -sk u", "curl -kL u", "curl --insec u", "curl u -sSLk"],
        &["curl u", "curl -s u", "curl -H kk u", "curl --key x u"],
    ),
    (
        "curl -X POST",
        &[
            "curl -XPOST u",
            "curl --request POST u",
            "curl --request=POST u",
            "curl -sX POST u",
            "curl u -sXPOST",
        ],
        &["curl -X GET u", "curl u POST"],
    ),
    ("curl -sk", &["curl -k -s u", "curl --silent --insecure u"], &["curl -osk u", "curl -s u"]),
    ("curl --data", &["curl -d x u", "curl -sdx u"], &["curl --data-raw x u", "curl u"]),
    (
        "wget -O /etc/x",
        &["wget -O/etc/x u", "wget --output-document=/etc/x u", "wget -qO /etc/x u"],
        &["wget -O x u"],
    ),
    (
        "wget --no-check-certificate",
        &["wget u --no-check-certificate", "wget --no-check-cert u"],
        &["wget u", "wget --no-clobber u"],
    ),
    ("wget -r", &["wget --recursive u", "wget -qr u"], &["wget -q u", "wget -nv u"]),
    (
        "tar -x",
        &["tar xf a", "tar -xzf a", "tar --extract -f a", "tar zxf a", "tar --get -f a", "tar -f a -x"],
        &["tar cf a b", "tar -cf x a", "tar tf x"],
    ),
    (
        "tar xf",
        &["tar -xf a", "tar -f a -x", "tar --extract --file=a", "tar zxvf a"],
        &["tar cf a", "tar -tf a"],
    ),
    ("tar --absolute-names", &["tar -xPf a", "tar xPf a", "tar xf a -P"], &["tar xf P"]),
    (
        "tar -C /",
        &["tar xf a -C /", "tar xf a --directory=/", "tar -xf a -C/", "tar xCf / a"],
        &["tar xf a -C x", "tar xf a"],
    ),
    (
        "docker run --privileged",
        &[
            "docker run --privileged x",
            "docker run -it --privileged x",
            "docker -H tcp://x run --privileged x",
            "docker container run --privileged x",
            "docker --context c run --rm --privileged=true x",
            "docker run x --privileged",
        ],
        &["docker run x", "docker exec --privileged x", "docker ps"],
    ),
    (
        "docker run -v /:/host",
        &[
            "docker run --volume /:/host x",
            "docker run -v/:/host x",
            "docker run --volume=/:/host x",
            "docker run -itv /:/host x",
        ],
        &["docker run -v a:b x"],
    ),
    (
        "docker run --net host",
        &["docker run --network host x", "docker run --network=host x", "docker run --net=host x"],
        &["docker run --network bridge x"],
    ),
    (
        "docker rm -f",
        &[
            "docker rm --force x",
            "docker rm -vf x",
            "docker container rm -f x",
            "docker container remove --force x",
        ],
        &["docker rm x", "docker rmi -f x"],
    ),
    ("docker rmi", &["docker image rm x", "docker -D rmi x"], &["docker rm x", "docker images"]),
    (
        "docker exec -it",
        &["docker exec -ti x sh", "docker exec -i -t x sh", "docker exec --tty --interactive x sh"],
        &["docker exec x sh", "docker exec -i x sh"],
    ),
    (
        "docker compose down -v",
        &[
            "docker compose down --volumes",
            "docker compose -f a down -v",
            "docker compose -p x down --remove-orphans -v",
        ],
        &["docker compose down", "docker compose up -V"],
    ),
    (
        "docker system prune --all",
        &["docker system prune -a", "docker system prune -fa"],
        &["docker system prune", "docker image prune -a"],
    ),
    (
        "podman run --privileged",
        &["podman run -it --privileged x", "podman container run --privileged x"],
        &["podman run x", "docker run --privileged x"],
    ),
    (
        "kubectl delete",
        &[
            "kubectl -n x delete pod y",
            "kubectl --namespace x delete pod y",
            "kubectl --context=c delete pod y",
            "kubectl delete -f x",
        ],
        &["kubectl get delete"],
    ),
    (
        "kubectl delete --all",
        &[
            "kubectl delete pod --all",
            "kubectl -n x delete pods --all=true",
            "kubectl delete --all pods -n x",
        ],
        &["kubectl delete pod x", "kubectl delete pod -A"],
    ),
    (
        "kubectl delete -f",
        &["kubectl delete --filename x", "kubectl delete -n y -f x", "kubectl delete --filename=x"],
        &["kubectl delete pod x"],
    ),
    (
        "kubectl apply --namespace prod",
        &[
            "kubectl apply -n prod -f x",
            "kubectl -nprod apply -f x",
            "kubectl -n=prod apply -f x",
            "kubectl --namespace=prod apply -f x",
        ],
        &["kubectl apply -n dev -f x", "kubectl apply -f prod"],
    ),
    (
        "npm publish",
        &[
            "npm --prefix x publish",
            "npm -C x publish",
            "npm publish --tag a",
            "npm --otp=1 publish",
            "npm -w a publish",
        ],
        &["npm run publish", "npm pack"],
    ),
    (
        "npm install --global",
        &["npm i -g x", "npm install -g x", "npm add x -g", "npm -g install x", "npm i x --glob"],
        &["npm i x", "npm install -D g"],
    ),
    ("npm install -g", &["npm i --global x", "npm isntall x -g"], &["npm ci", "npm i x"]),
    (
        "npm run deploy",
        &["npm run-script deploy", "npm --prefix a run deploy"],
        &["npm run build", "npm deploy run"],
    ),
    ("pnpm add -g", &["pnpm add --global x", "pnpm -C x add x -g"], &["pnpm add x"]),
    ("yarn add --dev", &["yarn add -D x", "yarn --cwd a add x -D"], &["yarn add x"]),
    (
        "pip install --user",
        &["pip install x --user", "pip -q install --user x", "pip --proxy p install --user x"],
        &["pip install x"],
    ),
    (
        "pip3 install --index-url*",
        &[
            "pip3 install -i http://x y",
            "pip3 install --index-url=http://x y",
            "pip3 install --index http://x y",
        ],
        &["pip3 install y"],
    ),
    (
        "pip install -r",
        &["pip install --requirement x", "pip install -qr x", "pip install -rx"],
        &["pip install r"],
    ),
    ("pip uninstall -y", &["pip uninstall --yes x", "pip uninstall x -qy"], &["pip uninstall x"]),
    (
        "cargo publish",
        &[
            "cargo +nightly publish",
            "cargo --config a publish",
            "cargo -Z x publish",
            "cargo -v publish",
            "cargo --color never publish",
        ],
        &["cargo build publish", "cargo package"],
    ),
    (
        "cargo publish --allow-dirty",
        &["cargo publish -p x --allow-dirty", "cargo +stable --offline publish --allow-dirty"],
        &["cargo publish", "cargo package --allow-dirty"],
    ),
    (
        "cargo build --release",
        &["cargo b -r", "cargo build -r", "cargo build -vr", "cargo +nightly b --release"],
        &["cargo build", "cargo run -r", "cargo build -j r"],
    ),
    ("cargo install --git", &["cargo install --git=x", "cargo install x --git y"], &["cargo install x"]),
    (
        "systemctl stop",
        &["systemctl --user stop x", "systemctl -H h stop x", "systemctl --no-pager stop x"],
        &["systemctl status stop", "systemctl start x"],
    ),
    (
        "systemctl --user enable --now",
        &["systemctl enable x --now --user", "systemctl --now enable --user x"],
        &["systemctl enable x"],
    ),
    (
        "journalctl --vacuum-size=*",
        &["journalctl --vacuum-size 1M", "journalctl -q --vacuum-size=1M"],
        &["journalctl -u x"],
    ),
    (
        "dd of=/dev/**",
        &["dd if=a of=/dev/sda", "dd of=/dev/sda if=a bs=1", "dd bs=1 of=/dev/sda"],
        &["dd if=/dev/zero of=x", "dd of=x"],
    ),
    (
        "dd if=/dev/zero of=x",
        &["dd of=x if=/dev/zero", "dd bs=1 of=x count=1 if=/dev/zero"],
        &["dd if=/dev/zero of=y"],
    ),
    (
        "ssh -R",
        &["ssh -R 1:a:2 h", "ssh -R1:a:2 h", "ssh -NfR 1:a:2 h", "ssh h -R 1:a:2"],
        &["ssh h", "ssh -L 1:a:2 h"],
    ),
    (
        "ssh -o ProxyCommand*",
        &["ssh -oProxyCommand=x h", "ssh -o ProxyCommand=x h", "ssh -vo ProxyCommand=x h"],
        &["ssh -o User=x h"],
    ),
    ("ssh -i /root/key", &["ssh -i/root/key h", "ssh -vi /root/key h"], &["ssh -i key h"]),
    ("scp -r", &["scp -pr a b", "scp -P 1 -r a b", "scp a b -qr"], &["scp a b", "scp -P 22 a b"]),
    (
        "rsync --delete",
        &["rsync -a --delete a b", "rsync a b --delete"],
        &["rsync -a a b", "rsync --delete-after a b"],
    ),
    (
        "rsync -e ssh",
        &["rsync --rsh=ssh a b", "rsync -avze ssh a b", "rsync -avessh a b"],
        &["rsync -a a b", "rsync -e rsh a b"],
    ),
    (
        "apt-get install -y",
        &[
            "apt-get -y install x",
            "apt-get install x --yes",
            "apt-get install --assume-yes x",
            "apt-get -qy install x",
        ],
        &["apt-get install x", "apt-get -y remove x"],
    ),
    ("apt remove --purge", &["apt --purge remove x", "apt remove x --purge -y"], &["apt remove x"]),
    (
        "kill -9",
        &[
            "kill -9 1",
            "kill -KILL 1",
            "kill -SIGKILL 1",
            "kill -s KILL 1",
            "kill -s 9 1",
            "kill --signal=KILL 1",
            "kill -n 9 1",
            "kill -sSIGKILL 1",
        ],
        &["kill 1", "kill -TERM 1", "kill -s TERM 1", "kill -15 1"],
    ),
    ("kill -KILL", &["kill -9 1", "kill -s SIGKILL 1"], &["kill -l", "kill -HUP 1"]),
    ("pkill -9", &["pkill -KILL x", "pkill -f -9 x", "pkill --signal KILL x"], &["pkill x", "pkill -f x"]),
    (
        "killall -u root",
        &["killall --user root", "killall --user=root", "killall -qu root", "killall -uroot"],
        &["killall -u me x", "killall root"],
    ),
    (
        "sed -i",
        &[
            "sed -i.bak s/a/b/ f",
            "sed --in-place s/a/b/ f",
            "sed --in-place=.x s/a/b/ f",
            "sed -ni p f",
            "sed s/a/b/ f -i",
        ],
        &["sed s/i/b/ f", "sed -n p f"],
    ),
    (
        "grep -rf",
        &["grep -f x -r y", "grep --recursive --file=x y", "grep -rfx y", "grep -irf x y"],
        &["grep -r x", "grep -f x y", "grep -efr x"],
    ),
    ("ls -la", &["ls -al", "ls -a -l", "ls --all -l x"], &["ls -l", "ls -A -l"]),
    ("mkdir -p", &["mkdir --parents x", "mkdir -vp x", "mkdir -m 700 -p x"], &["mkdir x", "mkdir -m p x"]),
    ("rmdir --parents", &["rmdir -p x", "rmdir -vp x"], &["rmdir x"]),
    ("touch -d", &["touch --date=x y", "touch -cd x y"], &["touch y"]),
    ("cat -A", &["cat --show-all x", "cat -nA x"], &["cat x"]),
    ("shred -u", &["shred -fu x", "shred -n 1 -u x", "shred -zvu x"], &["shred x", "shred -s u x"]),
    (
        "truncate --size=0",
        &["truncate -s 0 x", "truncate -s0 x", "truncate -cs 0 x", "truncate --size 0 x"],
        &["truncate -s 1 x"],
    ),
    (
        "sudo -u root",
        &["sudo --user=root x", "sudo -uroot x", "sudo -nu root x"],
        &["sudo -u me x", "sudo x"],
    ),
    ("make -C /etc", &["make --directory=/etc", "make -kC /etc", "make -C/etc x"], &["make -C x"]),
    (
        "make install",
        &["make -j4 install", "make -C x install", "make -k install"],
        &["make all install", "make"],
    ),
    ("python3 -c", &["python3 -c x", "python3 -Bc x", "python3 -cx"], &["python3 x", "python3 -m c"]),
    (
        "python3 -m pip",
        &["python3 -mpip install", "python3 -Im pip", "python3 -u -m pip"],
        &["python3 -m venv x"],
    ),
    ("node --eval", &["node -e x", "node --eval=x"], &["node x"]),
    ("go test -race", &["go test --race ./...", "go test -v -race"], &["go test", "go build -race"]),
    ("go build -o /etc/x", &["go build -o=/etc/x", "go build --o /etc/x ."], &["go build -o x"]),
    ("brew uninstall --force", &["brew rm -f x", "brew remove x --force"], &["brew uninstall x"]),
    (
        "gh pr merge --admin",
        &["gh pr -R o/r merge --admin 1", "gh pr merge 1 --admin"],
        &["gh pr merge 1", "gh pr view --admin"],
    ),
    ("gh repo delete", &["gh repo delete x --yes"], &["gh repo view delete"]),
    (
        "gh api -X DELETE",
        &["gh api --method DELETE x", "gh api x -XDELETE", "gh api --method=DELETE x"],
        &["gh api -X GET x"],
    ),
    (
        "terraform apply -auto-approve",
        &[
            "terraform apply --auto-approve",
            "terraform -chdir=x apply -auto-approve",
            "terraform apply -lock=false -auto-approve",
            "terraform apply -auto-approve=true",
        ],
        &["terraform apply", "terraform plan -auto-approve"],
    ),
    (
        "terraform destroy",
        &["terraform -chdir=x destroy", "terraform -chdir x destroy"],
        &["terraform plan destroy"],
    ),
    ("crontab -r", &["crontab -u x -r", "crontab -ir"], &["crontab -l", "crontab -u r -l"]),
    (
        "mount --bind",
        &["mount -B a b", "mount a b --bind", "mount -vB a b"],
        &["mount a b", "mount -t B a b"],
    ),
    (
        "mount -o remount*",
        &["mount --options remount,rw /", "mount -oremount /", "mount -vo remount,rw /"],
        &["mount -o ro /x"],
    ),
    ("umount -l", &["umount --lazy x", "umount -fl x"], &["umount x"]),
    ("iptables -F", &["iptables --flush", "iptables -t nat -F", "iptables -F INPUT"], &["iptables -L"]),
    (
        "iptables -A INPUT -j ACCEPT",
        &[
            "iptables --append INPUT --jump ACCEPT",
            "iptables -j ACCEPT -A INPUT",
            "iptables -t filter -p tcp -A INPUT -jACCEPT",
        ],
        &["iptables -A OUTPUT -j ACCEPT"],
    ),
    (
        "useradd -o -u 0",
        &["useradd -ou 0 x", "useradd --non-unique --uid=0 x", "useradd -u0 -o x"],
        &["useradd -u 0 x", "useradd x"],
    ),
    (
        "usermod -aG sudo",
        &[
            "usermod -a -G sudo x",
            "usermod --append --groups sudo x",
            "usermod -G sudo -a x",
            "usermod --groups=sudo -a x",
        ],
        &["usermod -aG users x", "usermod -G sudo x"],
    ),
    ("passwd -d", &["passwd --delete x", "passwd x -qd"], &["passwd x"]),
    ("zip -P", &["zip --password=x a b", "zip -rP x a b"], &["zip -r a b"]),
    ("unzip -o", &["unzip -qo a", "unzip a -o"], &["unzip a"]),
    ("gzip -d", &["gzip --decompress a", "gzip -kd a", "gzip --uncompress a"], &["gzip a"]),
    ("ps -e", &["ps -A", "ps -ef", "ps -fA"], &["ps", "ps -u x"]),
    // Programs that the table does not have: letters of clusters, and names as they are written.
    (
        "tool -rf",
        &["tool -rf x", "tool -fr x", "tool -r -f", "tool x -f y -r", "tool -vfr"],
        &["tool -r", "tool -f x", "tool --recursive --force"],
    ),
    ("tool -name x", &["tool -name x", "tool -v -name x"], &["tool -name y", "tool x"]),
    ("tool --force", &["tool x --force", "tool --forc", "tool --force=1"], &["tool -f", "tool x"]),
    (
        "tool sub -x",
        &["tool sub -x", "tool -a sub -yx", "tool --opt v sub -x"],
        &["tool other -x", "tool sub"],
    ),
    // A path does not stand in the way of other words.
    ("tool /etc/x y", &["tool /etc/x y", "tool ../etc/x y", "tool y /etc/x"], &["tool z y", "tool /etc/x z"]),
];

fn program(line: &str) -> Program {
    let word = |text: &str| {
        let certainty = match text {
            _ if text.contains('$') => Certainty::Unknown,
            _ if text.contains('*') => Certainty::Pattern,
            _ => Certainty::Literal,
        };
        Word { certainty, ..Word::literal(text) }
    };
    Program::alone(Argv::new(line.split(' ').map(word).collect()).unwrap(), Some("/ws".into()))
}

#[test]
fn a_restriction_meets_every_spelling() {
    let mut wrong = Vec::new();
    for (rule, meets, spares) in ROWS {
        let pattern = CommandPattern::parse(rule).unwrap();
        let lines = meets.iter().map(|line| (line, true)).chain(spares.iter().map(|line| (line, false)));
        for (line, expected) in lines {
            for effect in [Effect::Deny, Effect::Ask] {
                if pattern.matches(&program(line), effect) != expected {
                    wrong.push(format!("{effect:?} `{rule}` on `{line}`: not {expected}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} rows:\n{}", wrong.len(), wrong.join("\n"));
}

/// A permission covers its own words and no other spelling.
#[test]
fn a_permission_stays_exact() {
    for (rule, meets, _) in ROWS {
        let pattern = CommandPattern::parse(rule).unwrap();
        for line in meets.iter().filter(|line| !line.starts_with(rule) && !line.contains(['*', '/'])) {
            let covers = |(wanted, given): (&str, &str)| {
                ringfence_policy::Pattern::parse(wanted).unwrap().matches(given)
            };
            let is_covered = rule.split(' ').count() <= line.split(' ').count()
                && rule.split(' ').zip(line.split(' ')).all(covers);
            assert_eq!(pattern.matches(&program(line), Effect::Allow), is_covered, "{rule} on {line}");
        }
    }
}

#[test]
fn options_that_nobody_reviewed_are_told() {
    let rows = [
        ("rm -rf", false),
        ("rm", false),
        ("git push --force", false),
        ("git push --force*", false),
        ("git push -f origin", false),
        ("tool run", false),
        ("re:rm -rf.*", false),
        ("tool -rf", true),
        ("git push --frobnicate", true),
        ("git frobnicate -f", true),
        ("rm -Q", true),
        ("* -rf", true),
    ];
    for (rule, expected) in rows {
        let pattern = CommandPattern::parse(rule).unwrap();
        assert_eq!(pattern.has_unreviewed_options(), expected, "{rule}");
    }
}

#[test]
fn exact_patterns_know_values() {
    let rows = [
        ("git push", "git -C x push", true),
        ("git push", "git -c a=b --git-dir x push -q", true),
        ("git push", "git -C x push origin", false),
        ("docker ps", "docker container ls", true),
        ("docker ps", "docker container ls x", false),
        ("rm -rf x", "rm -fr x", true),
        ("rm -rf x", "rm -fr x y", false),
    ];
    for (rule, line, expected) in rows {
        let pattern = CommandPattern::parse(rule).unwrap().exact();
        assert_eq!(pattern.matches(&program(line), Effect::Deny), expected, "{rule} on {line}");
    }
}
