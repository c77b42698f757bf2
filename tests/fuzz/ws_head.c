/*
 * The head of a request, and whether it opens a WebSocket.  What is read of a
 * head does not depend on what follows it, and every part of it asks for more.
 */
#include <string.h>

#include "core/mem.h"
#include "must.h"
#include "ws/handshake.h"

static bool
str_is_within(struct str s, const char *p, size_t n)
{
	return s.n == 0 || (s.p >= p && s.p + s.n <= p + n);
}

/* No text of a head ends a line. */
static void
check_text(struct str s, const char *p, size_t n)
{
	must(str_is_within(s, p, n));
	must(s.n == 0 ||
	    (memchr(s.p, '\r', s.n) == NULL && memchr(s.p, '\n', s.n) == NULL &&
		memchr(s.p, '\0', s.n) == NULL));
}

static void
check_handshake(const struct http_head *h)
{
	struct buf b = BUF_INIT(64 * 1024);
	struct handshake hs;
	struct str token;

	handshake_check(h, &hs);
	must(hs.status == 101 || (hs.status >= 400 && hs.why != NULL));
	must(hs.status != 101 || strlen(hs.accept) == WS_ACCEPT_MAX - 1);
	must(!handshake_is_plain(h) || hs.status == 405 || hs.status == 426);
	must(hs.status != 101 || (h->http11 && str_eq(h->method, STR("GET"))));
	token = handshake_offer_after(h, STR("soul.bearer."));
	must(token.p == NULL || memchr(token.p, ',', token.n) == NULL);
	(void)handshake_offers(h, STR("star.v1"));
	if (hs.status == 101) {
		handshake_write(&hs, STR("star.v1"), &b);
		must(buf_rc(&b) == RC_OK);
		must(str_ends(buf_str(&b), STR("star.v1\r\n\r\n")));
	}
	buf_free(&b);
}

static void
check_head(struct str data, const struct http_head *h, size_t used)
{
	struct http_head part;
	const char *why;
	size_t i, n;

	must(
	    used <= data.n && used <= HTTP_HEAD_MAX && h->n <= HTTP_FIELDS_MAX);
	check_text(h->method, data.p, used);
	check_text(h->target, data.p, used);
	for (i = 0; i < h->n; i++) {
		check_text(h->field[i].name, data.p, used);
		check_text(h->field[i].value, data.p, used);
		must(h->field[i].name.n > 0);
		must(str_eq(h->field[i].value, str_trim(h->field[i].value)));
	}
	must(http_head_read((struct str){ data.p, used }, &part, &n, &why) ==
		RC_OK &&
	    n == used && part.n == h->n);
	must(http_head_read((struct str){ data.p, used - 1 }, &part, &n,
		 &why) == RC_RETRY);
	must(http_head_read((struct str){ data.p, used / 2 }, &part, &n,
		 &why) == RC_RETRY);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct str data = { (const char *)bytes, n };
	struct http_head h;
	const char *why = NULL;
	size_t used = 0;
	enum rc rc = http_head_read(data, &h, &used, &why);

	must(rc == RC_OK || rc == RC_RETRY || rc == RC_TOOBIG ||
	    (rc == RC_INVALID && why != NULL));
	if (rc == RC_OK) {
		check_head(data, &h, used);
		check_handshake(&h);
	}
	return 0;
}
