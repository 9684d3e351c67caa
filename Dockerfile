# One image for every process: compose.yaml gives each its command. By itself it runs everything, on SQLite.
FROM python:3.11-slim
RUN useradd --system --create-home badcollect \
    && install --directory --owner badcollect /var/lib/badcollect /var/lib/badcollect/models
WORKDIR /app
COPY requirements.txt constraints.txt ./
RUN pip install --no-cache-dir -r requirements.txt
COPY manage.py ./
COPY badcollect badcollect
COPY annotations annotations
COPY bots bots
COPY templates templates
COPY static static
USER badcollect
ENV PYTHONUNBUFFERED=1 VAR_DIR=/var/lib/badcollect HOST=0.0.0.0
EXPOSE 8000
CMD ["python", "manage.py", "up"]
