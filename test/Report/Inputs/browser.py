# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A page in headless Chromium, driven by the DevTools protocol over pipes."""

import base64
import json
import os
import shlex
import signal
import subprocess
import tempfile


# A browser that hangs fails the test.
signal.alarm(120)


class Page:
    def __init__(self, path, dark=False, size=(1280, 800)):
        self._profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        from_us, self._to = os.pipe()
        self._from, to_us = os.pipe()
        command = ["chromium", "--headless", "--no-sandbox", "--disable-gpu",
                   "--no-first-run", "--remote-debugging-pipe",
                   # Keys that a test presses each change the address.
                   "--disable-ipc-flooding-protection",
                   f"--user-data-dir={self._profile.name}"]
        # Chromium reads commands from descriptor 3 and answers on descriptor 4.
        self._browser = subprocess.Popen(
            ["bash", "-c", f"exec {shlex.join(command)} 3<&{from_us} 4>&{to_us}"],
            pass_fds=(from_us, to_us),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        os.close(from_us)
        os.close(to_us)
        self._number = 0
        self._session = None
        self._read = b""
        self.events = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target,
                                  flatten=True)["sessionId"]
        for domain in ["Page", "Runtime", "Log", "Network"]:
            self.call(f"{domain}.enable")
        self.call("Performance.enable", timeDomain="threadTicks")
        self.call("Emulation.setDeviceMetricsOverride", width=size[0],
                  height=size[1], deviceScaleFactor=1, mobile=False)
        self.call("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        self.call("Page.navigate", url="file://" + os.path.abspath(path))
        self.wait("Page.loadEventFired")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._browser.kill()
        self._browser.wait()
        self._profile.cleanup()

    def _next(self):
        while b"\0" not in self._read:
            more = os.read(self._from, 1 << 20)
            if not more:
                raise RuntimeError("the browser has ended")
            self._read += more
        message, self._read = self._read.split(b"\0", 1)
        message = json.loads(message)
        if "method" in message:
            self.events.append(message)
        return message

    def call(self, method, **params):
        """The result of one command of the protocol."""
        self._number += 1
        command = {"id": self._number, "method": method, "params": params}
        if self._session:
            command["sessionId"] = self._session
        text = json.dumps(command).encode() + b"\0"
        while text:
            text = text[os.write(self._to, text):]
        while True:
            message = self._next()
            if message.get("id") == self._number:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']['message']}")
                return message["result"]

    def wait(self, event):
        """Until an event of this name has come."""
        while all(e["method"] != event for e in self.events):
            self._next()

    def run(self, script):
        """The value of an expression of JavaScript in the page."""
        answer = self.call("Runtime.evaluate", expression=script,
                           returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(f"{script}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def processor_seconds(self):
        """What the page's thread took of a processor so far, however busy the
        machine is with other work."""
        metrics = self.call("Performance.getMetrics")["metrics"]
        return {m["name"]: m["value"] for m in metrics}["TaskDuration"]

    def press(self, key):
        """Presses and releases a key, as a user would."""
        text = {"text": key} if len(key) == 1 else {}
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, **text)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key)

    def problems(self):
        """What the browser complained of, and what the page asked the network for."""
        found = []
        for event in self.events:
            params = event["params"]
            if event["method"] == "Runtime.exceptionThrown":
                found.append(str(params["exceptionDetails"]))
            elif event["method"] == "Log.entryAdded":
                found.append(params["entry"]["text"])
            elif event["method"] == "Network.requestWillBeSent":
                url = params["request"]["url"]
                if not url.startswith("file:") or event["params"]["type"] != "Document":
                    found.append("request of " + url)
        return found

    def screenshot(self, path):
        with open(path, "wb") as out:
            out.write(base64.b64decode(self.call("Page.captureScreenshot")["data"]))
