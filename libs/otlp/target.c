/*
 * The collector's address and the headers it wants.
 */
#include "otlp/otlp_internal.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "core/buf.h"
#include "core/mem.h"
#include "core/url.h"

#define URL_MAX   1024
#define NAME_MAX  128
#define VALUE_MAX 8192

/* Characters of a header's name (RFC 9110). */
#define TOKEN                        \
	"!#$%&'*+-.^_`|~0123456789"  \
	"abcdefghijklmnopqrstuvwxyz" \
	"ABCDEFGHIJKLMNOPQRSTUVWXYZ"

static bool
is_set(const char *s)
{
	return s != NULL && s[0] != '\0';
}

static enum rc
check(const char *url, const char **why)
{
	struct url u;

	if (url_parse(str_of(url), &u, why) != RC_OK)
		return RC_INVALID;
	if (strcmp(u.scheme, "http") == 0 || strcmp(u.scheme, "https") == 0)
		return RC_OK;
	*why = "the scheme is neither http nor https";
	return RC_INVALID;
}

enum rc
otlp_target_url(const struct otlp_conf *conf, char **url, const char **why)
{
	struct buf b = BUF_INIT(URL_MAX);
	struct str base = str_of(conf->endpoint);

	*url = NULL;
	if (is_set(conf->traces_endpoint)) {
		buf_puts(&b, conf->traces_endpoint);
	} else if (is_set(conf->endpoint)) {
		while (base.n > 0 && base.p[base.n - 1] == '/')
			base.n--;
		buf_put_str(&b, base);
		buf_puts(&b, "/v1/traces");
	} else {
		return RC_OK;
	}
	enum rc rc = buf_rc(&b);
	if (rc == RC_OK)
		rc = check(b.p, why);
	else
		*why = "the endpoint is too long";
	if (rc == RC_OK)
		*url = str_dup(buf_str(&b));
	buf_free(&b);
	return rc == RC_OK ? RC_OK : RC_INVALID;
}

static bool
is_token(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (s.p[i] == '\0' || strchr(TOKEN, s.p[i]) == NULL)
			return false;
	return s.n > 0;
}

/* "name=value" as a line, on the heap; otherwise NULL, and *why. */
static char *
header(struct str pair, const char **why)
{
	struct str name = str_trim(str_split(&pair, '='));
	struct str escaped = str_trim(pair);
	struct buf b = BUF_INIT(NAME_MAX + VALUE_MAX + 2);
	char value[VALUE_MAX];
	char *line = NULL;

	*why = NULL;
	if (!is_token(name) || name.n > NAME_MAX)
		*why = "a header's name is not one";
	else if (escaped.n == 0)
		*why = "a header has no value";
	else if (url_unescape(escaped, value, sizeof(value)) != RC_OK)
		*why = "a header's value is badly escaped or too long";
	if (*why == NULL) {
		buf_put_str(&b, name);
		buf_puts(&b, ": ");
		buf_puts(&b, value);
		line = str_dup(buf_str(&b));
	}
	buf_free(&b);
	return line;
}

enum rc
otlp_target_headers(const char *text, struct otlp_headers *h, const char **why)
{
	struct str rest = str_of(text);

	while (rest.p != NULL) {
		struct str pair = str_trim(str_split(&rest, ','));
		if (pair.n == 0)
			continue;
		if (h->n == OTLP_HEADERS_MAX) {
			*why = "there are too many headers";
			return RC_INVALID;
		}
		char *line = header(pair, why);
		if (line == NULL)
			return RC_INVALID;
		h->line[h->n++] = line;
	}
	return RC_OK;
}

void
otlp_headers_free(struct otlp_headers *h)
{
	while (h->n > 0)
		free(h->line[--h->n]);
}
