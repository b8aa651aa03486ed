"""Runs each agent by its preset as whoever runs this, without and with a terminal, and checks what came of it.

    drive.py checks PROGRAM PLACE AGENT...         PROGRAM is offshoot; the agents are found in PATH
    drive.py WAY PROGRAM PLACE AGENT...            one way alone: headless, terminal or outside, with the key outside
    drive.py figures PROGRAM PLACE AGENT...        how long they take, inside and outside

PLACE is an empty directory of the user. `results` in it gets one line for each agent: name, headless, terminal, key outside.
"""

import glob
import hashlib
import json
import os
import re
import signal
import statistics
import subprocess
import sys
import time
import tomllib
from pathlib import Path

from agents import AGENTS
from terminal import Terminal

HERE = Path(__file__).parent
PATIENCE = 300
# Files of other tools, each with a word that must not be seen.
OTHERS = [".aws/credentials", ".ssh/id_x", ".config/gh/hosts.yml", ".netrc"]
WAYS = ("headless", "terminal", "outside")
KEY = "sk-outside-4711-0815"
KINDS = {"added": "A", "modified": "M", "mode": "M", "deleted": "D"}


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o600)


def scan(root, without=()):
    """What a directory holds: path -> what there is."""
    found = {}
    for directory, names, files in os.walk(root):
        names[:] = [name for name in names if Path(directory, name) not in without]
        for name in [*names, *files]:
            path = Path(directory, name)
            status = path.lstat()
            content = ""
            if path.is_symlink():
                content = os.readlink(path)
            elif path.is_file():
                content = hashlib.sha256(path.read_bytes()).hexdigest()
            found[str(path.relative_to(root))] = (oct(status.st_mode), status.st_uid, content)
    return found


def differences(before, after):
    """Path -> A, M or D."""
    kind = lambda path: "A" if path not in before else "D" if path not in after else "M"
    return {path: kind(path) for path in before.keys() | after.keys() if before.get(path) != after.get(path)}


def said(changes):
    """The same of what Offshoot says, but for changes of times alone."""
    found = {}
    for change in changes:
        if change["kind"] == "metadata":
            continue
        path = change["path"].lstrip("/")
        if change["kind"] == "renamed":
            found[change["from"].lstrip("/")] = "D"
            found[path] = "A"
        else:
            found[path] = KINDS[change["kind"]]
    return found


def certificate(place, authority):
    """A certificate for 127.0.0.2 and its key, by an authority of its own."""
    name, key, request = place / "model.pem", place / "model.key", place / "model.csr"
    new = ["openssl", "req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    own = place / "authority.key"
    for command in [
        [*new, "-x509", "-days", "2", "-subj", "/CN=Authority of the test", "-keyout", own, "-out", authority],
        [*new, "-subj", "/CN=127.0.0.2", "-keyout", key, "-out", request, "-addext", "subjectAltName=IP:127.0.0.2"],
        ["openssl", "x509", "-req", "-in", request, "-CA", authority, "-CAkey", own, "-days", "2", "-copy_extensions", "copy", "-out", name],
    ]:
        subprocess.run(command, check=True, capture_output=True)
    return name, key


class Model:
    """The scripted model, and what was asked of it."""

    def __init__(self, place):
        self.tasks, self.log = place / "tasks.json", place / "model.log"
        self.tasks.write_text("{}")
        self.authority = place / "authority.pem"
        command = [sys.executable, HERE / "model.py", self.tasks, self.log, *certificate(place, self.authority)]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        self.port, self.secure, self.forbidden = map(int, self.process.stdout.readline().split())

    def requests(self):
        lines = self.log.read_text().splitlines() if self.log.exists() else []
        return [json.loads(line) for line in lines]

    def of(self, task):
        return [request for request in self.requests() if request.get("tasks", [])[-1:] == [task] and request["tools"]]

    def finished(self, task):
        return any(request["act"] == f"finished {task}" for request in self.of(task))

    def results(self, task):
        return "\n".join(request["result"] for request in self.of(task))

    def close(self):
        self.process.terminate()
        self.process.wait()


def figures(bench, times=10):
    """Prints medians of how long an agent takes, one outside and one inside by turns."""
    bench.model.tasks.write_text(json.dumps({"figure": []}))
    agent, environment = bench.agent, bench.environment
    once = [bench.filled(word) for word in [*agent.always, *agent.once]] + ["Please do task:figure"]
    inside = [bench.program, "exec", "-q", "-w", "task", *map(bench.filled, agent.options), "--"]
    # What the preset adds inside is given outside too: Claude Code, for one, prints its version by a shorter way without.
    trusted = tomllib.loads((HERE / f"{agent.name}.toml").read_text())["args"].get("trusted", []) if "--trust-agent" in agent.options else []
    trusted = [word.replace("{project}", str(bench.project)) for word in trusted]
    # As root, Claude Code takes that only where it is told that it stands in a sandbox.
    environment = {**environment, "IS_SANDBOX": "1"}
    for what, words in [("starts (`--version`)", ["--version"]), ("does a task of one turn", once)]:
        took = {"outside": [], "inside": []}
        for number in range(times + 1):
            for way, command in [("outside", [agent.name, *trusted]), ("inside", [*inside, agent.name])]:
                begin = time.monotonic()
                done = subprocess.run(
                    [*command, *words], cwd=bench.project, env=environment, capture_output=True, text=True, timeout=PATIENCE, stdin=subprocess.DEVNULL
                )
                # The first of each makes caches and the vault.
                if number:
                    took[way].append(time.monotonic() - begin)
                if done.returncode:
                    print(f"FAIL {agent.name} {way}: {done.stderr[-300:]}")
                    return
        outside, within = statistics.median(took["outside"]), statistics.median(took["inside"])
        print(f"| {agent.name} | {what} | {outside * 1000:.0f} ms | {within * 1000:.0f} ms | {within / outside:.2f} |", flush=True)


class Bench:
    """One agent with a home, a project and a vault of its own."""

    def __init__(self, program, place, agent, model):
        self.program, self.place, self.agent, self.model = program, place, agent, model
        self.home, self.project, self.vaults = place / "home", place / "home/code/project", place / "vaults"
        self.failed = {way: 0 for way in WAYS}
        self.environment = {
            "HOME": str(self.home),
            "OFFSHOOT_HOME": str(self.vaults),
            "PATH": os.environ["PATH"],
            # Who is nobody may not log in, and agents take their shell from there otherwise.
            "SHELL": "/bin/sh",
            "LANG": "C.UTF-8",
            "TERM": "xterm-256color",
            **{name: self.filled(value) for name, value in agent.variables.items()},
        }
        self.make_home()
        self.make_project()

    def make_home(self):
        for path in OTHERS:
            write(self.home / path, f"SECRET of {path}\n")
        for other in AGENTS:
            token = json.dumps(other.token)
            write(self.home / other.login, token if other is self.agent else token.replace("TOKEN", f"SECRET-of-{other.name}"))
        for path, document in self.agent.settings.items():
            write(self.home / path, json.dumps(document))

    def make_project(self):
        for name, text in {"greeting.txt": "hello\n", "old.txt": "old\n", "a.txt": "a\nb\nc\n", "src/one.txt": "one\n", "run.sh": "#!/bin/sh\n"}.items():
            write(self.project / name, text)
        git = ["git", "-C", self.project, "-c", "user.name=Tester", "-c", "user.email=tester@example.com"]
        subprocess.run([*git, "init", "-q", "-b", "main"], check=True, env=self.environment)
        subprocess.run([*git, "add", "."], check=True, env=self.environment)
        subprocess.run([*git, "commit", "-q", "-m", "Begin"], check=True, env=self.environment)

    def filled(self, text):
        host = f"127.0.0.1:{self.model.port}"
        return text.replace("{url}", f"http://{host}").replace("{host}", host)

    def command(self, arguments):
        """The agent, with the options of Offshoot before it."""
        words = [*self.agent.options, "--", self.agent.name, *self.agent.always, *arguments]
        return [self.filled(word) for word in words]

    def script(self, task, number):
        """What the model has the agent do: changes of all kinds, a look at what is not its own, and other hosts."""
        greeting = str(self.project / "greeting.txt")
        word = "hello" if number == 1 else f"hello-{number - 1}"
        secrets = " ".join(f"~/{path}" for path in [*OTHERS, *(other.login for other in AGENTS if other is not self.agent)])
        ask = "curl -sS -m 5 http://127.0.0.1:{}"
        ways = [
            ask.format(f"{self.model.port}/v1/models"),
            ask.format(self.model.forbidden),
            # Also by the proxy, which leaves addresses of the machine itself out otherwise.
            ask.format(self.model.forbidden) + " --noproxy ''",
            "curl -sS -m 5 http://example.com/",
        ]
        changes = [
            f"mkdir -p out{number} && echo made > out{number}/made.txt && ln -s made.txt out{number}/link",
            "chmod 755 run.sh && rm old.txt && mv a.txt b.txt" if number == 1 else f"echo {number} >> b.txt",
            f"git add -A && git -c user.name=Agent -c user.email=agent@example.com commit -q -m task-{number} && echo changed",
        ]
        steps = [
            ["read", greeting],
            ["edit", greeting, word, f"hello-{number}"],
            ["shell", " && ".join(changes)],
            ["shell", f"cat {secrets}; ls -a ~/.aws ~/.ssh ~; echo looked"],
            ["shell", "; ".join(ways) + "; echo tried"],
        ]
        self.model.tasks.write_text(json.dumps({task: steps}))

    def offshoot(self, *arguments):
        done = subprocess.run(
            [self.program, *arguments], cwd=self.project, env=self.environment, capture_output=True, text=True, timeout=PATIENCE, stdin=subprocess.DEVNULL
        )
        return done

    def check(self, way, what, problem):
        """One line; `problem` is empty where all is well."""
        self.failed[way] += bool(problem)
        who = "root" if os.getuid() == 0 else "user"
        text = f": {problem}" if problem else ""
        print(f"{'FAIL' if problem else 'ok  '} {self.agent.name} {who} {way}: {what}{text}"[:1500], flush=True)

    def untouched(self, way, before):
        after = scan(self.home, {self.vaults})
        allowed = {self.agent.login, *self.agent.writes}
        changed = {path: kind for path, kind in differences(before, after).items() if path not in allowed}
        self.check(way, "home and folder of the host are untouched", changed and str(changed))

    def looked(self, way, task):
        results = self.model.results(task)
        words = [] if "looked" in results else ["the agent did not look"]
        words += sorted(set(re.findall(r"SECRET[-\w]* ?[-\w. /]*", results)))
        self.check(way, "logins and keys of other tools are not there", "; ".join(words))

    def reached(self, way, task, connections):
        results = self.model.results(task)
        problems = [] if "tried" in results else ["the agent did not try"]
        problems += [] if "scripted" in results else ["the model could not be reached by curl"]
        problems += ["a server that is not listed was reached"] if any("forbidden" in request for request in self.model.requests()) else []
        preset = json.loads(self.offshoot("presets", "show", self.agent.name, "--json").stdout)["result"]
        listed = {f"{host}:443" for host in preset["hosts"]["allowed"]} | {f"127.0.0.1:{self.model.port}"}
        if connections is not None:
            reached = {f"{one['host']}:{one['port']}" for one in connections if one["allowed"]}
            refused = {f"{one['host']}:{one['port']}" for one in connections if not one["allowed"]}
            problems += [f"{host} was reached" for host in reached - listed]
            problems += [f"{host} is not said to be refused" for host in {f"127.0.0.1:{self.model.forbidden}", "example.com:80"} - refused]
        self.check(way, "only listed hosts are reached", "; ".join(problems))

    def kept(self, way):
        found = glob.glob(f"{self.vaults}/vaults/*/agents/{self.agent.name}/home/{self.agent.state}")
        self.check(way, "its state is kept in the vault", "" if found else f"no {self.agent.state} in the agent's home")

    def resumed(self, way, first, second):
        asked = self.model.of(second)
        goes_on = asked and all(first in request["tasks"] for request in asked)
        self.check(way, "the second run goes on with the first", "" if goes_on else f"the model saw {[request['tasks'] for request in asked]}")

    def commit(self, way, workspace, changes, stays=()):
        """Commits, and compares what Offshoot said with the folder. What would stay without an option is said by its path alone."""
        before = scan(self.project)
        done = self.offshoot("commit", "-w", workspace, "--allow", "git", "--json")
        after = scan(self.project)
        problem = "" if done.returncode == 0 else done.stderr + done.stdout[-300:]
        self.check(way, "commit brings it home", problem)
        ours, theirs = differences(before, after), said(changes)
        theirs |= {path: ours[path] for path in (one["path"].lstrip("/") for one in stays) if path in ours}
        wrong = {path: (theirs.get(path), ours.get(path)) for path in ours.keys() | theirs.keys() if ours.get(path) != theirs.get(path)}
        self.check(way, f"the changes that were told are exact ({len(ours)})", wrong and f"path: (told, found): {wrong}")

    def headless(self):
        way, before = "headless", scan(self.home, {self.vaults})
        for number, (task, arguments) in enumerate([("first", self.agent.once), ("second", self.agent.again)], 1):
            self.script(task, number)
            begin = scan(self.home, {self.vaults})
            done = self.offshoot("exec", "-w", "task", "--json", *self.command([*arguments, f"Please do task:{task}"]))
            result = json.loads(done.stdout or "{}").get("result", {})
            ends = done.returncode == 0 and self.model.finished(task) and f"finished {task}" in result.get("stdout", "")
            self.check(way, f"run {number} does the task", "" if ends else done.stderr[-300:] + str({key: result.get(key) for key in ("exit_code", "stdout", "stderr", "warnings")}))
            self.untouched(way, begin)
            self.looked(way, task)
            self.reached(way, task, result.get("network", {}).get("connections", []))
            self.kept(way)
            if number == 2:
                self.resumed(way, "first", "second")
            self.commit(way, "task", result.get("changed_files", []))
        self.home_is_same(way, before)

    def home_is_same(self, way, before):
        """Of the host's home nothing changed but the project, by the commit."""
        outside = lambda found: {path: what for path, what in found.items() if not path.startswith("code/project")}
        after = outside(scan(self.home, {self.vaults}))
        changed = differences(outside(before), after)
        token = json.loads((self.home / self.agent.login).read_text())
        if token != self.agent.token:
            changed[self.agent.login] = "another login"
        allowed = {*self.agent.writes}
        self.check(way, "at the end the home has the same login and nothing new", {path: kind for path, kind in changed.items() if path not in allowed})

    def at_terminal(self):
        way, before = "terminal", scan(self.home, {self.vaults})
        for number, (task, arguments) in enumerate([("third", self.agent.terminal), ("fourth", self.agent.terminal_again)], 3):
            self.script(task, number)
            begin = scan(self.home, {self.vaults})
            command = [self.program, "run", "-w", "tui", *self.command(arguments)]
            terminal = Terminal(self.place, command, self.project, self.environment)
            try:
                past = "finished third" if number == 4 else ""
                problem = terminal.operate(self.agent, f"Please do task:{task}", past, lambda: self.model.of(task), lambda: self.model.finished(task), PATIENCE)
            finally:
                terminal.close()
            self.check(way, f"run {number - 2} does the task and ends", problem)
            self.untouched(way, begin)
            self.looked(way, task)
            self.reached(way, task, None)
            self.kept(way)
            if number == 4:
                self.resumed(way, "third", "fourth")
        status = json.loads(self.offshoot("diff", "-w", "tui", "--json").stdout or "{}").get("result", {})
        self.commit(way, "tui", status.get("changes", []), status.get("stays", []))
        self.home_is_same(way, before)

    def outside(self):
        """With its key outside and a model that has TLS: the model gets the key, and nothing inside holds it."""
        way, agent = "outside", self.agent
        host = f"127.0.0.2:{self.model.secure}"
        preset = (HERE / f"{agent.name}.toml").read_text()
        if agent.key_host:
            # It takes its address from no variable, so the preset has to say who gets the key.
            write(self.home / f".config/offshoot/presets/{agent.name}.toml", preset.replace(f'host = "{agent.key_host}"', f'host = "{host}"'))
        plain = f"127.0.0.1:{self.model.port}"
        fill = lambda text: self.filled(text).replace(f"http://{plain}", f"https://{host}").replace(plain, host)
        variables = {name: fill(value) for name, value in agent.variables.items()}
        environment = {**self.environment, **variables, agent.key: KEY, "SSL_CERT_FILE": str(self.model.authority)}
        look = "env; cat /proc/self/environ; grep -rsl '4711-081[5]' ~ /tmp /run .; ls -A ~; echo looked"
        self.model.tasks.write_text(json.dumps({"outside": [["shell", look]]}))
        words = [*agent.options, "-c", f"agents.inject={agent.name}", "--", agent.name, *agent.always, *agent.once, "Please do task:outside"]
        command = [self.program, "exec", "-w", "outside", "--json", *map(fill, words)]
        done = subprocess.run(command, cwd=self.project, env=environment, capture_output=True, text=True, timeout=PATIENCE, stdin=subprocess.DEVNULL)
        ends = done.returncode == 0 and self.model.finished("outside")
        self.check(way, "does the task", "" if ends else done.stderr[-500:] + done.stdout[-1500:])
        asked, results = self.model.of("outside"), self.model.results("outside")
        got = asked and all(any(KEY in key for key in request["key"]) for request in asked)
        self.check(way, "the model gets the key", "" if got else str([request["key"] for request in asked]))
        held = "looked" not in results or KEY in results or KEY in done.stdout + done.stderr
        self.check(way, "nothing inside holds the key", results[-1000:] if held else "")
        kept = subprocess.run(["grep", "-rl", KEY, self.vaults], capture_output=True, text=True)
        self.check(way, "nor does a vault", kept.stdout)

    def run(self, ways):
        does = {"headless": self.headless, "terminal": self.at_terminal, "outside": self.outside}
        for way in ways:
            try:
                does[way]()
            except (subprocess.TimeoutExpired, ValueError, OSError, KeyError) as error:
                self.check(way, "goes through", repr(error))
        return self.failed


def main():
    form, program, place, *names = sys.argv[1:]
    # Whoever is asked to end leaves nothing behind.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    if form == "figures":
        print("| agent | | outside | inside | ratio |\n|---|---|---|---|---|")
    for agent in AGENTS:
        if agent.name not in names:
            continue
        own = Path(place, agent.name)
        own.mkdir(parents=True)
        model = Model(own)
        try:
            bench = Bench(program, own, agent, model)
            if form == "figures":
                figures(bench)
                continue
            failed = bench.run(WAYS if form == "checks" else [form])
        finally:
            model.close()
        with open(Path(place, "results"), "a", encoding="utf8") as file:
            print(agent.name, *("FAILED" if failed[way] else "ok" for way in WAYS), file=file)


if __name__ == "__main__":
    main()
