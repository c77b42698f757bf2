/*
 * Heads of requests: what is read, and what is rejected because two readers
 * could disagree about it.
 */
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "http/head_reader.h"
#include "testkit/testkit.h"

static enum rc
head_read(const char *text, size_t n, struct http_head *h, size_t *used)
{
	const char *why = NULL;
	/* A separate copy, so that a sanitizer sees a read past its end. */
	static char *copy;

	free(copy);
	copy = mem_alloc(n > 0 ? n : 1);
	memcpy(copy, text, n);
	enum rc rc = http_head_read((struct str){ copy, n }, h, used, &why);
	ck_assert_int_eq(rc == RC_INVALID, why != NULL);
	return rc;
}

TEST(a_head_is_read_when_it_is_whole)
{
	static const char text[] = "GET /a?b HTTP/1.1\r\nHost: h\r\n"
				   "X-A:\t 1 , 2 \r\nx-a: 3\r\n\r\nrest";
	struct http_head h;
	size_t used, n;

	for (n = 0; n < sizeof(text) - 1 - 4; n++)
		ck_assert_int_eq(head_read(text, n, &h, &used), RC_RETRY);
	ck_assert_int_eq(head_read(text, strlen(text), &h, &used), RC_OK);
	ck_assert_uint_eq(used, strlen(text) - 4);
	ck_assert(str_eq(h.method, STR("GET")));
	ck_assert(str_eq(h.target, STR("/a?b")));
	ck_assert(h.http11);
	ck_assert_uint_eq(h.n, 3);
	ck_assert_uint_eq(header_count(h.field, h.n, STR("X-a")), 2);
	ck_assert(str_eq(header_find(h.field, h.n, STR("X-a")), STR("1 , 2")));
	ck_assert(header_has_token(STR("1 , 2"), STR("2")));
	ck_assert_ptr_null(header_find(h.field, h.n, STR("none")).p);
}

TEST(what_is_ambiguous_is_rejected)
{
	static const char *const heads[] = { "GET / HTTP/1.2\r\n\r\n",
		"GET  / HTTP/1.1\r\n\r\n", "GET / HTTP/1.1 \r\n\r\n",
		"GET / http/1.1\r\n\r\n", "GET x HTTP/1.1\r\n\r\n",
		"GET /\303\244 HTTP/1.1\r\n\r\n", "G(T / HTTP/1.1\r\n\r\n",
		" / HTTP/1.1\r\n\r\n", "GET /\r\n\r\n",
		"GET / HTTP/1.1\r\nHost : h\r\n\r\n",
		"GET / HTTP/1.1\r\n: h\r\n\r\n",
		"GET / HTTP/1.1\r\nHost\r\n\r\n",
		"GET / HTTP/1.1\r\nA: 1\r\n 2\r\n\r\n",
		"GET / HTTP/1.1\r\nA: 1\n2\r\n\r\n",
		"GET / HTTP/1.1\r\nA: 1\r2\r\n\r\n",
		"GET / HTTP/1.1\r\nA: \177\r\n\r\n" };
	static const char nul[] = "GET / HTTP/1.1\r\nA: \0";
	struct http_head h;
	size_t i, used;

	for (i = 0; i < NELEM(heads); i++)
		ck_assert_msg(head_read(heads[i], strlen(heads[i]), &h,
				  &used) == RC_INVALID,
		    "%s", heads[i]);
	ck_assert_int_eq(
	    head_read(nul, sizeof(nul) - 1, &h, &used), RC_INVALID);
}

TEST(a_head_has_limits)
{
	char text[HTTP_HEAD_MAX + 64] = "GET / HTTP/1.1\r\n";
	struct http_head h;
	size_t used, n = strlen(text), i;

	for (i = 0; i <= HTTP_FIELDS_MAX; i++, n += 6)
		memcpy(text + n, "a: b\r\n", 6);
	memcpy(text + n, "\r\n", 2);
	ck_assert_int_eq(head_read(text, n + 2, &h, &used), RC_TOOBIG);
	memcpy(text + n - 6, "\r\n", 2);
	ck_assert_int_eq(head_read(text, n - 4, &h, &used), RC_OK);
	memset(text + 16, 'a', sizeof(text) - 16);
	ck_assert_int_eq(
	    head_read(text, HTTP_HEAD_MAX - 1, &h, &used), RC_RETRY);
	ck_assert_int_eq(head_read(text, sizeof(text), &h, &used), RC_TOOBIG);
}
