/*
 * Validation of everything that goes into a line of the NATS protocol:
 * subjects, queue groups and header values are sent as they are, so a blank or
 * line end in one of them would become protocol.
 */
#include <stdlib.h>
#include <string.h>

#include "bus/bus_internal.h"

#define QUEUE_MAX 128
#define HOST_MAX  253

static bool
syntax_printable(char c)
{
	return c > ' ' && c < 0x7f;
}

bool
bus_subject_valid(const char *s, bool wild)
{
	struct str rest = str_of(s), token;
	size_t i;

	if (rest.n == 0 || rest.n > BUS_SUBJECT_MAX)
		return false;
	while (rest.p != NULL) {
		token = str_split(&rest, '.');
		if (token.n == 0)
			return false;
		if (wild && str_eq(token, STR("*")))
			continue;
		if (wild && str_eq(token, STR(">")) && rest.p == NULL)
			continue;
		for (i = 0; i < token.n; i++)
			if (!syntax_printable(token.p[i]) ||
			    token.p[i] == '*' || token.p[i] == '>')
				return false;
	}
	return true;
}

bool
bus_queue_valid(const char *s)
{
	return s != NULL && strlen(s) <= QUEUE_MAX &&
	    bus_subject_valid(s, false);
}

bool
bus_token_valid(const char *s)
{
	static const char good[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				   "abcdefghijklmnopqrstuvwxyz0123456789_-";
	size_t n;

	if (s == NULL)
		return false;
	n = strspn(s, good);
	return n > 0 && n <= 64 && s[n] == '\0';
}

bool
bus_header_value_valid(const char *s)
{
	size_t i, n;

	if (s == NULL)
		return false;
	n = strlen(s);
	if (n == 0 || n > BUS_HEADER_VALUE_MAX || s[0] == ' ' ||
	    s[n - 1] == ' ')
		return false;
	for (i = 0; i < n; i++)
		if ((unsigned char)s[i] < ' ' || s[i] == 0x7f)
			return false;
	return true;
}

static bool
syntax_host_valid(struct str host)
{
	size_t i;

	if (host.n > 2 && host.p[0] == '[' && host.p[host.n - 1] == ']') {
		host.p++;
		host.n -= 2;
		for (i = 0; i < host.n; i++)
			if (strchr("0123456789abcdefABCDEF:.", host.p[i]) ==
			    NULL)
				return false;
		return true;
	}
	if (host.n == 0 || host.n > HOST_MAX)
		return false;
	for (i = 0; i < host.n; i++)
		if (!syntax_printable(host.p[i]) ||
		    strchr(":/@[]?#,\"\\", host.p[i]) != NULL)
			return false;
	return true;
}

/* Whether url is nats:// or tls://[user[:password]@]host[:port]. */
static bool
syntax_server_valid(struct str url)
{
	const char *at, *colon;
	struct str port;
	int64_t number;
	size_t i, scheme_n;

	scheme_n = str_starts(url, STR("nats://")) ? 7
	    : str_starts(url, STR("tls://"))       ? 6
						   : 0;
	if (scheme_n == 0)
		return false;
	url.p += scheme_n;
	url.n -= scheme_n;
	for (i = 0; i < url.n; i++)
		if (!syntax_printable(url.p[i]) ||
		    strchr("\"\\", url.p[i]) != NULL)
			return false;
	at = memrchr(url.p, '@', url.n);
	if (at != NULL) {
		if (at == url.p)
			return false;
		url.n -= (size_t)(at + 1 - url.p);
		url.p = at + 1;
	}
	if (url.n > 0 && url.p[url.n - 1] == '/')
		url.n--;
	colon = url.n > 0 ? memrchr(url.p, ':', url.n) : NULL;
	if (colon != NULL &&
	    memchr(colon, ']', (size_t)(url.p + url.n - colon)) == NULL) {
		port.p = colon + 1;
		port.n = (size_t)(url.p + url.n - port.p);
		if (port.n == 0 || port.p[0] == '+' ||
		    str_to_i64(port, 1, 65535, &number) != RC_OK)
			return false;
		url.n = (size_t)(colon - url.p);
	}
	return syntax_host_valid(url);
}

enum rc
bus_servers_parse(const char *urls, char *out[BUS_SERVERS_MAX], int *n)
{
	struct str rest = str_of(urls), url;
	enum rc rc = RC_OK;
	int count = 0;

	if (rest.n == 0)
		return RC_INVALID;
	while (rc == RC_OK && rest.p != NULL) {
		url = str_trim(str_split(&rest, ','));
		if (!syntax_server_valid(url))
			rc = RC_INVALID;
		else if (count == BUS_SERVERS_MAX)
			rc = RC_TOOBIG;
		else if (count > 0 && url.p[0] != out[0][0])
			rc = RC_INVALID;
		else
			out[count++] = str_dup(url);
	}
	if (rc != RC_OK) {
		bus_servers_free(out, count);
		return rc;
	}
	*n = count;
	return RC_OK;
}

bool
bus_url_is_tls(const char *url)
{
	return str_starts(str_of(url), STR("tls://"));
}

void
bus_servers_free(char *v[], int n)
{
	while (n > 0)
		free(v[--n]);
}
