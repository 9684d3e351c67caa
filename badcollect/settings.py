"""Every setting, each from one environment variable; docs/settings.md describes them and a test reads it."""

from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo

import dj_database_url
import django_stubs_ext
from csp.constants import NONE, SELF
from django.core.exceptions import ImproperlyConfigured
from kombu import Queue  # type: ignore[attr-defined]

from badcollect import env

django_stubs_ext.monkeypatch()  # forms.ModelForm[User] and the like can be written, and mypy reads them

VERSION = "0.1.0"
BASE_DIR = Path(__file__).resolve().parent.parent
VAR_DIR = Path(env.text("VAR_DIR", str(BASE_DIR / "var"))).resolve()

DEBUG = env.flag("DEBUG")
SECRET_KEY = env.secret("SECRET_KEY", VAR_DIR / "secret_key")
ALLOWED_HOSTS = env.names("ALLOWED_HOSTS", "localhost,127.0.0.1,[::1]")
CSRF_TRUSTED_ORIGINS = env.names("CSRF_TRUSTED_ORIGINS")
TIME_ZONE = env.text("TIME_ZONE", "UTC")
try:
    ZoneInfo(TIME_ZONE)
except (KeyError, ValueError, OSError) as unknown:
    raise ImproperlyConfigured(
        f"TIME_ZONE={TIME_ZONE!r} is unknown. Write UTC, or a name like Europe/Paris."
    ) from unknown
CONTACT_EMAIL = env.text("CONTACT_EMAIL")
USE_TZ = True
LANGUAGE_CODE = "en"
USE_I18N = False

# -- people over HTTPS ---------------------------------------------------------------------------------------
HTTPS = env.flag("HTTPS")
SECURE_SSL_REDIRECT = HTTPS
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if HTTPS else None
SECURE_REDIRECT_EXEMPT = [r"^health$"]
SECURE_HSTS_SECONDS = 31_536_000 if HTTPS else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = HTTPS
SECURE_HSTS_PRELOAD = HTTPS
SESSION_COOKIE_SECURE = HTTPS
CSRF_COOKIE_SECURE = HTTPS
SESSION_COOKIE_AGE = 60 * 60 * 24 * 14
X_FRAME_OPTIONS = "DENY"
SECURE_REFERRER_POLICY = "same-origin"

CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF],
        "style-src": [SELF],
        "img-src": [SELF, "data:"],
        "font-src": [SELF],
        "connect-src": [SELF],
        "manifest-src": [SELF],
        "form-action": [SELF],
        "base-uri": [NONE],
        "frame-ancestors": [NONE],
    }
}

# -- the application -----------------------------------------------------------------------------------------
INSTALLED_APPS = [
    "badcollect",
    "annotations",
    "bots",
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "django_htmx",
    "ninja",
    "axes",
    "csp",
]
MIDDLEWARE = [
    "badcollect.middleware.ReferenceMiddleware",
    "badcollect.middleware.RefusedMiddleware",
    "badcollect.middleware.StaleFormMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "csp.middleware.CSPMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "axes.middleware.AxesMiddleware",
]
ROOT_URLCONF = "badcollect.urls"
ASGI_APPLICATION = "badcollect.asgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "annotations.people.context.contact",
            ]
        },
    }
]
MESSAGE_TAGS = {30: "warn", 40: "bad"}  # warning and error, in the words of the banner's classes
STATIC_URL = "/static/"
STATICFILES_DIRS = [BASE_DIR / "static"]
# Files are served from where they lie (some dozens): nothing to collect, and no copy to go stale.
WHITENOISE_USE_FINDERS = True
WHITENOISE_AUTOREFRESH = DEBUG

# -- who may come in -----------------------------------------------------------------------------------------
AUTH_USER_MODEL = "annotations.User"
AUTHENTICATION_BACKENDS = ["axes.backends.AxesStandaloneBackend", "django.contrib.auth.backends.ModelBackend"]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in ("UserAttributeSimilarityValidator", "MinimumLengthValidator", "CommonPasswordValidator")
]
CSRF_FAILURE_VIEW = "badcollect.views.csrf_failure"
LOGIN_URL = "login"
LOGIN_REDIRECT_URL = "home"
LOGOUT_REDIRECT_URL = "login"
AXES_FAILURE_LIMIT = env.number("LOGIN_ATTEMPTS", 5)
AXES_COOLOFF_TIME = env.number("LOGIN_COOLOFF_MINUTES", 10) / 60
AXES_LOCKOUT_PARAMETERS = [["username", "ip_address"]]
AXES_LOCKOUT_CALLABLE = "annotations.people.views.locked_out"
AXES_RESET_ON_SUCCESS = True
AXES_VERBOSE = False

# -- the database --------------------------------------------------------------------------------------------
DATABASE_URL = env.text("DATABASE_URL", f"sqlite:///{VAR_DIR / 'badcollect.sqlite3'}")

CHAT_THREADS = env.number("CHAT_THREADS", 8, high=200)
DB_CONNECTIONS = env.number("DB_CONNECTIONS", 20, low=2, high=1000)


def database(url: str) -> dict[str, Any]:
    """Django's settings for the database at `url`. Raises ImproperlyConfigured for one we do not run on."""
    try:
        config: dict[str, Any] = dict(dj_database_url.parse(url))
    except (ValueError, KeyError) as error:
        raise ImproperlyConfigured(
            "DATABASE_URL cannot be read. Write postgres://user:password@host:5432/name or sqlite:////path/to/file."
        ) from error
    config["OPTIONS"] = dict(config.get("OPTIONS") or {})
    if config["ENGINE"].endswith("postgresql"):
        # psycopg's pool: Django gives each request a thread, and a process must not hold a connection for each.
        # The chat threads keep theirs for good, so there must be more than CHAT_THREADS.
        if DB_CONNECTIONS <= CHAT_THREADS:
            raise ImproperlyConfigured(
                f"DB_CONNECTIONS={DB_CONNECTIONS} has to be more than CHAT_THREADS={CHAT_THREADS}: each of those keeps one."
            )
        config["CONN_HEALTH_CHECKS"] = True
        config["OPTIONS"]["prepare_threshold"] = 5
        config["OPTIONS"]["pool"] = {"min_size": 1, "max_size": DB_CONNECTIONS, "timeout": 20}
        return config
    if not config["ENGINE"].endswith("sqlite3"):
        raise ImproperlyConfigured(
            "DATABASE_URL names a database badcollect does not run on. Use PostgreSQL or SQLite."
        )
    # A deferred transaction that reads first cannot wait for the lock; an immediate one can.
    config["OPTIONS"] |= {
        "transaction_mode": "IMMEDIATE",
        "timeout": 20,
        "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;",
    }
    config["TEST"] = {"NAME": str(VAR_DIR / "test.sqlite3")}
    try:
        Path(config["NAME"]).parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ImproperlyConfigured(
            f"{config['NAME']} cannot be used ({error.strerror}). Correct DATABASE_URL."
        ) from error
    return config


DATABASES = {"default": database(DATABASE_URL)}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# -- Redis: events to browsers, and the queues -----------------------------------------------------------------
REDIS_SOCKET = VAR_DIR / "redis.sock"
REDIS_URL = env.text("REDIS_URL", f"unix://{REDIS_SOCKET}")
REDIS_PREFIX = env.text("REDIS_PREFIX", "badcollect")


def redis_url(base: str, db: int, *, celery: bool = False) -> str:
    """The address of the database `db` places after that of `base`, in the spelling that channels or Celery reads.

    Raises ImproperlyConfigured for an address that cannot be read.
    """
    fault = ImproperlyConfigured(
        "REDIS_URL cannot be read. Write redis://user:password@host:6379/0 or unix:///path/to/socket."
    )
    parts = urlsplit(base)
    if parts.scheme == "unix" and parts.path.strip("/") and not parts.netloc and not parts.query:
        return f"redis+socket://{parts.path}?virtual_host={db}" if celery else f"unix://{parts.path}?db={db}"
    try:
        number = int(parts.path.strip("/") or "0")
        readable = parts.scheme in ("redis", "rediss") and parts.hostname and parts.port != 0
    except ValueError as error:
        raise fault from error
    if not readable:
        raise fault
    return parts._replace(path=f"/{number + db}").geturl()


CHANNEL_LAYERS = {
    "default": {
        "BACKEND": "badcollect.layers.ChatLayer",
        "CONFIG": {
            # An idle socket must not lose its line after redis-py's own 5 s, nor the 101st socket fail.
            "hosts": [{"address": redis_url(REDIS_URL, 1), "socket_timeout": None, "max_connections": 2000}],
            "prefix": REDIS_PREFIX,
        },
    }
}
CELERY_BROKER_URL = redis_url(REDIS_URL, 0, celery=True)
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_CONNECTION_MAX_RETRIES = None
CELERY_BROKER_TRANSPORT_OPTIONS = {
    "global_keyprefix": f"{REDIS_PREFIX}:",
    "visibility_timeout": 3600,
    # A web process that cannot reach Redis says so within a second, not after three more tries; the beat asks again.
    "socket_connect_timeout": 1,
    "max_retries": 0,
    "retry_policy": {"timeout": 1.0},
}
CELERY_TASK_PUBLISH_RETRY = False
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_ACKS_LATE = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 8
CELERY_TASK_DEFAULT_QUEUE = "jobs"
# What a bots task would do is owed in the database, and the sweep finds it: acknowledging each would buy nothing.
CELERY_TASK_QUEUES = [Queue("bots", no_ack=True), Queue("jobs"), Queue("long")]  # type: ignore[no-untyped-call]
CELERY_TASK_ROUTES = {name: {"queue": "bots"} for name in ("chats.reply", "chats.sweep", "chats.try_bot")}
LONG_TASKS = ("verification.remerge", "exports.make", "exports.read", "console.regress", "console.agree")
CELERY_TASK_ROUTES |= {name: {"queue": "long"} for name in LONG_TASKS}
# Taken off the queue as it begins: one that outlasts visibility_timeout would be given out a second time, and one
# whose worker is killed is found by its row.
CELERY_TASK_ANNOTATIONS = {name: {"acks_late": False} for name in LONG_TASKS}
CELERY_BEAT_SCHEDULE_FILENAME = str(VAR_DIR / "beat")
CELERY_BEAT_SCHEDULE = {
    "sweep": {"task": "chats.sweep", "schedule": 5.0, "options": {"expires": 5}},
    "close-idle": {"task": "chats.close_idle", "schedule": 30.0, "options": {"expires": 30}},
    "open-finished": {"task": "verification.open_finished", "schedule": 10.0, "options": {"expires": 10}},
    "merge-due": {"task": "verification.merge_due", "schedule": 10.0, "options": {"expires": 10}},
    "restart-exports": {"task": "exports.restart", "schedule": 20.0, "options": {"expires": 20}},
    "expire-batches": {"task": "verification.expire", "schedule": 30.0, "options": {"expires": 30}},
    "revive-mergings": {"task": "verification.revive", "schedule": 30.0, "options": {"expires": 30}},
    "refresh-models": {
        "task": "verification.refresh_models",
        "schedule": 3600.0,
        "options": {"expires": 3600},
    },
}
CELERY_TIMEZONE = TIME_ZONE

# -- the chat --------------------------------------------------------------------------------------------------
BOT_THREADS = env.number("BOT_THREADS", 8, high=500)
ALLOW_INTERNAL_BOTS = env.flag("BADCOLLECT_ALLOW_INTERNAL_BOTS")
IMPORT_MAX_MB = env.number("IMPORT_MAX_MB", 100, high=2000)
FRAMES_A_SECOND = env.number("FRAMES_A_SECOND", 100)

LOG_LEVEL = env.one_of("LOG_LEVEL", "INFO", ("DEBUG", "INFO", "WARNING", "ERROR"))
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"plain": {"format": "%(asctime)s %(levelname)s %(name)s %(message)s"}},
    "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "plain"}},
    "root": {"handlers": ["console"], "level": LOG_LEVEL},
    # Django's own handler would say everything twice while debugging; the others tell of each request, task or tick.
    "loggers": {
        "django": {"handlers": []},
        **{
            name: {"level": "WARNING"}
            for name in (
                "django.server",
                "axes",
                "httpx",
                "celery.worker.strategy",
                "celery.app.trace",
                "celery.beat",
            )
        },
    },
}
