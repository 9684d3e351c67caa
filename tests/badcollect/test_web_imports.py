import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
HEAVY = ["torch", "transformers", "numpy", "pandas", "scipy", "sklearn", "altair"]
PROGRAM = f"""
import json, sys
import badcollect.asgi
from django.urls import get_resolver
from badcollect.api import api
from bots import replies

def walk(patterns):
    for pattern in patterns:
        if hasattr(pattern, "url_patterns"):
            yield from walk(pattern.url_patterns)
        else:
            yield pattern.callback

views = list(walk(get_resolver().url_patterns))
paths = list(api.get_openapi_schema()["paths"])
for engine in replies.SCRIPTED + replies.REMOTE:
    replies.engine_module(engine)
print(json.dumps([len(views) > 20, len(paths) > 0, [name for name in {HEAVY} if name in sys.modules]]))
"""


def test_the_web_process_loads_every_page_and_no_heavy_package(tmp_path):
    environ = {**os.environ, "DJANGO_SETTINGS_MODULE": "badcollect.settings", "VAR_DIR": str(tmp_path)}

    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], cwd=ROOT, env=environ, capture_output=True, text=True, check=True
    )

    assert json.loads(done.stdout) == [True, True, []]
