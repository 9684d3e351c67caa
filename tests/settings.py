"""The project's settings in a place of its own: a folder for each test process, nothing of a developer's."""

import os
import tempfile
from pathlib import Path

worker = os.environ.get("PYTEST_XDIST_WORKER", "main")
# The workers of a run inherit it from the process that starts them; two runs at once never meet.
run = os.environ.setdefault("BADCOLLECT_TEST_RUN", str(os.getpid()))
FOLDER = Path(tempfile.gettempdir()) / f"badcollect-tests-{os.getuid()}" / run / worker
FOLDER.mkdir(parents=True, exist_ok=True)
os.environ["VAR_DIR"] = str(FOLDER)
os.environ["REDIS_PREFIX"] = f"test-{run}-{worker}"
os.environ["DEBUG"] = "0"
os.environ["FRAMES_A_SECOND"] = "1000"
os.environ["ALLOWED_HOSTS"] = "localhost,127.0.0.1,testserver"
os.environ.setdefault("REDIS_URL", f"unix://{FOLDER.parent / 'main' / 'redis.sock'}")
os.environ.setdefault("BADCOLLECT_ALLOW_INTERNAL_BOTS", "1")

from badcollect.settings import *  # noqa: E402, F403

PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
