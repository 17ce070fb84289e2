"""The program of tests/fuzz/fork_server.c: one process that runs loom once for each request, in a child."""

import os
import struct
import subprocess
import tempfile
import threading

REQUEST, ANSWER = struct.Struct("6q"), struct.Struct("3q")


def plugins_of(server):
    """Plugins and readers of the tree of a server.  Factors are left out: a run sets the environment before it loads
    a BLAS."""
    top = os.path.dirname(os.path.dirname(os.path.abspath(server)))
    return [os.path.join(top, sub, name) for sub in ("plugins", "readers") if os.path.isdir(os.path.join(top, sub))
            for name in sorted(os.listdir(os.path.join(top, sub))) if name.endswith(".so")]


class Server:
    """Requests of several threads: each thread has a process of its own."""

    def __init__(self, program, files, env, cpu_s, file_bytes, memory_mb, wall_s):
        self.words, self.env = [program, *files], dict(env, LD_BIND_NOW="1")
        self.limits = (cpu_s, file_bytes, memory_mb << 10, wall_s)
        self.mine, self.all = threading.local(), []

    def process(self):
        found = getattr(self.mine, "process", None)
        if found is None:
            found = subprocess.Popen(self.words, env=self.env, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
            self.mine.process = found
            self.all.append(found)
        return found

    def ask(self, args, folder):
        """Exit code, output and peak memory in MB of one command."""
        with tempfile.NamedTemporaryFile(prefix="loom_fuzz_output_") as out:
            texts = [os.fsencode(str(t)) for t in (os.path.abspath(folder), out.name)]
            texts += [a.encode("utf-8", "surrogateescape") for a in args]
            data = b"".join(t + b"\0" for t in texts)
            process = self.process()
            try:
                process.stdin.write(REQUEST.pack(*self.limits, len(texts), len(data)) + data)
                process.stdin.flush()
                reply = process.stdout.read(ANSWER.size)
            except BrokenPipeError:
                reply = b""
            if len(reply) != ANSWER.size:
                raise SystemExit(f"fuzz_files: the server {self.words[0]} ended with {process.wait()}")
            status, peak_kb, _ = ANSWER.unpack(reply)
            text = out.read(1 << 20).decode("utf-8", "replace")
        return os.waitstatus_to_exitcode(status), text, peak_kb / 1024

    def close(self):
        for process in self.all:
            process.stdin.close()
            process.stdout.close()
            process.wait()
        self.all.clear()
