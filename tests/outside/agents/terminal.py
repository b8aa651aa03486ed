"""A program at a terminal of its own, operated by keys."""

import os
import re
import shlex
import subprocess
import time


class Terminal:
    """A tmux server with one window."""

    def __init__(self, place, command, directory, environment):
        self.socket = str(place / "tmux")
        self.status, self.log = place / "status", place / "screen.log"
        self.status.unlink(missing_ok=True)
        line = f"{shlex.join(map(str, command))}; echo $? > {shlex.quote(str(self.status))}; sleep 600"
        subprocess.run(
            ["tmux", "-f", "/dev/null", "-S", self.socket, "new-session", "-d", "-x", "140", "-y", "50", "sh", "-c", line],
            cwd=directory, env=environment, check=True,
        )

    def tmux(self, *arguments):
        done = subprocess.run(["tmux", "-S", self.socket, *arguments], capture_output=True, text=True)
        return done.stdout

    def screen(self):
        return self.tmux("capture-pane", "-p", "-J")

    def press(self, *keys):
        for key in keys:
            # Text and the key that sends it apart, as a person types: otherwise it is taken for something that was pasted.
            self.tmux("send-keys", key) if key in ("Enter", "Down", "Up", "Escape", "C-c", "C-d") else self.tmux("send-keys", "-l", key)
            time.sleep(0.7)

    def ended(self):
        return self.status.exists() and self.status.read_text().strip() != ""

    def operate(self, agent, prompt, past, is_seen, is_done, patience):
        """Answers what the agent asks, types a prompt, waits, and has it end. Returns what went wrong."""
        begin = time.monotonic()
        until = begin + patience
        typed, left = None, 0
        while time.monotonic() < until:
            time.sleep(0.5)
            screen = self.screen()
            if self.ended():
                code = self.status.read_text().strip()
                if typed and is_done():
                    return "" if code == "0" else f"it ended with {code}: {screen.strip()[-600:]}"
                return f"it ended too early with {code}: {screen.strip()[-600:]}"
            question = next((keys for pattern, keys in agent.answers if re.search(pattern, screen)), None)
            if typed and is_done():
                if "finished" in screen and left < 5:
                    time.sleep(1)
                    self.press(*agent.leave)
                    left += 1
                    time.sleep(3)
            elif question and not typed:
                self.press(*question)
                time.sleep(1)
            elif not typed and re.search(agent.ready, screen) and (past in screen or time.monotonic() - begin > 40):
                # What is typed before an earlier conversation was loaded may be lost.
                time.sleep(1)
                self.press(prompt, "Enter")
                typed = time.monotonic()
            elif typed and time.monotonic() - typed > 20 and not is_seen():
                # It was not listening yet.
                self.press(*([] if prompt in screen else [prompt]), "Enter")
                typed = time.monotonic()
        return f"it did not come to an end: {self.screen().strip()[-1200:]}"

    def close(self):
        """Ends what runs there."""
        pids = self.tmux("list-panes", "-a", "-F", "#{pane_pid}").split()
        self.tmux("kill-server")
        for pid in pids:
            for _ in range(100):
                if not os.path.exists(f"/proc/{pid}"):
                    break
                time.sleep(0.1)
