#include "proxy/proxy_engine.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/arena.h"
#include "core/mem.h"
#include "core/url.h"
#include "proxy/key_filter.h"
#include "wire/msgs.h"
#include "wire/wire.h"

/* RC_NOENT: it cannot be read, for errno; RC_TOOBIG: it does not fit. */
static enum rc
engine_read_file(const char *path, struct buf *out)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	char part[4096];
	ssize_t n;
	int error;

	if (fd == -1)
		return RC_NOENT;
	while ((n = read(fd, part, sizeof(part))) > 0 ||
	    (n == -1 && errno == EINTR)) {
		if (n > 0)
			buf_put(out, part, (size_t)n);
		if (buf_rc(out) != RC_OK)
			break;
	}
	error = errno;
	close(fd);
	errno = error;
	return n == -1 ? RC_NOENT : buf_rc(out);
}

static bool
engine_url_valid(struct str url)
{
	struct url u;

	return url_parse(url, &u, NULL) == RC_OK &&
	    (str_eq(str_of(u.scheme), STR("https")) ||
		str_eq(str_of(u.scheme), STR("http"))) &&
	    u.user[0] == '\0' && u.password[0] == '\0' &&
	    str_find(url, STR("?")) < 0 && str_find(url, STR("#")) < 0;
}

static enum provider_api
engine_api(const struct wire_engine_config_engines *e)
{
	if (!e->has_api)
		return e->engine == WIRE_ENGINE_CONFIG_ENGINES_ENGINE_GEMINI
		    ? PROVIDER_GEMINI
		    : PROVIDER_OPENAI;
	switch (e->api) {
	case WIRE_ENGINE_CONFIG_ENGINES_API_GEMINI:
		return PROVIDER_GEMINI;
	case WIRE_ENGINE_CONFIG_ENGINES_API_ANTHROPIC:
		return PROVIDER_ANTHROPIC;
	default:
		return PROVIDER_OPENAI;
	}
}

static enum rc
engine_add(struct proxy_engines *e, const struct wire_engine_config_engines *v,
    struct buf *why)
{
	struct str name = wire_engine_config_engines_engine_names[v->engine];
	struct str url = v->base_url;

	if (url.p == NULL)
		return RC_OK;
	if (proxy_engines_find(e, name) != NULL) {
		buf_printf(why, "%.*s: it is listed twice", STR_ARG(name));
		return RC_INVALID;
	}
	if (!engine_url_valid(url)) {
		buf_printf(why,
		    "%.*s: base_url must be http(s)://host[:port][/path]",
		    STR_ARG(name));
		return RC_INVALID;
	}
	while (url.n > 0 && url.p[url.n - 1] == '/')
		url.n--;
	e->list[e->n++] = (struct proxy_engine){ .name = str_dup(name),
		.base_url = str_dup(url),
		.key_file = str_dup(v->key_file),
		.api = engine_api(v) };
	return RC_OK;
}

enum rc
proxy_engines_parse(struct str json, struct proxy_engines *e, struct buf *why)
{
	struct arena *a = arena_new(WIRE_ARENA_MAX);
	struct wire_engine_config conf;
	char text[WIRE_ERR_TEXT_MAX];
	struct wire_err err;
	enum rc rc;
	size_t i;

	*e = (struct proxy_engines){ 0 };
	rc = wire_decode(&wire_engine_config_desc, json, a, &conf, &err);
	if (rc != RC_OK) {
		wire_err_text(&err, text, sizeof(text));
		buf_puts(why, text);
		arena_free(a);
		return RC_INVALID;
	}
	e->list = mem_calloc(conf.n_engines + 1, sizeof(*e->list));
	for (i = 0; rc == RC_OK && i < conf.n_engines; i++)
		rc = engine_add(e, &conf.engines[i], why);
	arena_free(a);
	return rc;
}

enum rc
proxy_engines_load(const char *path, struct proxy_engines *e, struct buf *why)
{
	struct buf text = BUF_INIT(PROXY_ENGINES_FILE_MAX);
	enum rc rc = engine_read_file(path, &text);

	*e = (struct proxy_engines){ 0 };
	if (rc == RC_NOENT)
		buf_printf(why, "%s: %s", path, strerror(errno));
	else if (rc == RC_TOOBIG)
		buf_printf(
		    why, "%s: over %d bytes", path, PROXY_ENGINES_FILE_MAX);
	if (rc == RC_OK)
		rc = proxy_engines_parse(buf_str(&text), e, why);
	buf_free(&text);
	return rc == RC_OK ? RC_OK : RC_INVALID;
}

void
proxy_engines_free(struct proxy_engines *e)
{
	size_t i;

	for (i = 0; i < e->n; i++) {
		free(e->list[i].name);
		free(e->list[i].base_url);
		free(e->list[i].key_file);
	}
	free(e->list);
	*e = (struct proxy_engines){ 0 };
}

const struct proxy_engine *
proxy_engines_find(const struct proxy_engines *e, struct str name)
{
	size_t i;

	for (i = 0; i < e->n; i++) {
		if (str_eq(str_of(e->list[i].name), name))
			return &e->list[i];
	}
	return NULL;
}

enum rc
proxy_engine_key(const struct proxy_engine *e, struct buf *out)
{
	struct buf text = BUF_INIT(KEY_FILTER_MAX);
	struct str key;
	enum rc rc;
	size_t i;

	if (e->key_file == NULL)
		return RC_OK;
	rc = engine_read_file(e->key_file, &text);
	key = str_trim(buf_str(&text));
	if (key.n == 0)
		rc = RC_INVALID;
	for (i = 0; i < key.n; i++) {
		if (key.p[i] < 0x21 || key.p[i] > 0x7e)
			rc = RC_INVALID;
	}
	if (rc == RC_OK)
		buf_put_str(out, key);
	if (text.p != NULL)
		explicit_bzero(text.p, text.n);
	buf_free(&text);
	return rc == RC_OK ? buf_rc(out) : RC_INVALID;
}
