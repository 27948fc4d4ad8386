# SPDX-License-Identifier: GPL-2.0-or-later
"""Drives a page in a headless Chromium by the DevTools protocol over a pipe: no other package is needed.
with Page("/tmp/x.svg") as page:
    page.click(100, 200)
    page.until("document.title === 'x'")"""
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

from ptyscreen import LIMIT, Skip

NAMES = ("chromium", "chromium-browser", "google-chrome")
ARGUMENTS = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking",
             "--disable-component-update", "--disable-sync", "--no-first-run", "--remote-debugging-pipe")
KEYS = {"Enter": "\r", "Escape": "", "Backspace": "", "ArrowUp": "", "ArrowDown": "", "ArrowLeft": "",
        "ArrowRight": "", "Home": ""}
CONTROL = 2


def program():
    found = next(filter(None, map(shutil.which, NAMES)), None)
    if not found:
        raise Skip("no browser is installed (apt-get install chromium)")
    return found


class Page:
    def __init__(self, file, size=(1200, 800), dark=False):
        self.folder = tempfile.mkdtemp(prefix="flametop-browser.")
        self.answers, self.events, self.received, self.number, self.session = {}, [], b"", 0, None
        read, self.to = os.pipe()
        self.of, write = os.pipe()
        # Chromium expects the pipe as descriptors 3 and 4
        self.process = subprocess.Popen(
            ["sh", "-c", 'exec "$@" 3<&%d 4>&%d' % (read, write), "sh", program(), *ARGUMENTS,
             "--user-data-dir=" + self.folder], pass_fds=(read, write), stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=self.folder,
            env=dict(os.environ, HOME=self.folder))
        os.close(read)
        os.close(write)
        try:
            self.open("file://" + file, size, dark)
        except BaseException:
            self.close()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.process.kill()
        self.process.wait()
        os.close(self.to)
        os.close(self.of)
        shutil.rmtree(self.folder, ignore_errors=True)

    def receive(self):
        ready, _, _ = select.select([self.of], [], [], LIMIT)
        part = os.read(self.of, 1 << 20) if ready else b""
        assert part, "the browser says nothing more"
        self.received += part
        *messages, self.received = self.received.split(b"\0")
        for message in map(json.loads, messages):
            if "id" in message:
                self.answers[message["id"]] = message
            else:
                self.events.append(message)

    def ask(self, method, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.to, json.dumps(message).encode() + b"\0")
        while self.number not in self.answers:
            self.receive()
        answer = self.answers.pop(self.number)
        assert "error" not in answer, (method, answer)
        return answer["result"]

    def open(self, address, size, dark):
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self.ask("Page.enable")
        self.ask("Runtime.enable")
        self.ask("Emulation.setDeviceMetricsOverride", width=size[0], height=size[1], deviceScaleFactor=1,
                 mobile=False)
        self.ask("Emulation.setEmulatedMedia",
                 features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        self.ask("Page.navigate", url=address)
        while not any(e["method"] == "Page.loadEventFired" for e in self.events):
            self.receive()

    def complaints(self):
        """Exceptions, and messages written to the console."""
        self.ask("Runtime.evaluate", expression="0")
        return [e["params"] for e in self.events
                if e["method"] in ("Runtime.exceptionThrown", "Runtime.consoleAPICalled")]

    def get(self, expression):
        answer = self.ask("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def until(self, expression):
        end = time.monotonic() + LIMIT
        while not self.get(expression):
            assert time.monotonic() < end, "never so: " + expression
            time.sleep(0.05)

    def move(self, x, y):
        self.ask("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def click(self, x, y):
        self.move(x, y)
        for kind in ("mousePressed", "mouseReleased"):
            self.ask("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def key(self, key, modifiers=0):
        text = {"text": KEYS.get(key, key)} if not modifiers and KEYS.get(key, key) else {}
        code = {"windowsVirtualKeyCode": 13} if key == "Enter" else {}
        self.ask("Input.dispatchKeyEvent", type="keyDown", key=key, modifiers=modifiers, **text, **code)
        self.ask("Input.dispatchKeyEvent", type="keyUp", key=key, modifiers=modifiers, **code)

    def type(self, text):
        for letter in text:
            self.key(letter)
