/*
 * User names in requests: the identity of the token decides, whatever name the
 * request contains.
 */
#include <stdio.h>
#include <string.h>

#include "core/mem.h"
#include "testkit/stack/load.h"
#include "testkit/stack/lock.h"
#include "testkit/stack/probe.h"

/* Rate limits are not under test. */
STACK_SHARED({ .locked = true,
    .env = { [STACK_CHAT_GATEWAY] = { "RATE_TOKEN_PER_S=100000",
		 "RATE_TOKEN_BURST=100000", "RATE_ADDRESS_PER_S=0" } } })

#define GATEWAY (stack.service[STACK_CHAT_GATEWAY].http)

static const char *const names[] = { "ada", "ADA", "ada%20", "%20ada", "ada%00",
	"%00", "ada%0a", "%0d%0aX-A:%20b", "..%2fada", "mallory%2f..",
	"mallory%2fada", "acme%2fada", "*", "%3e", "soul.event.*", "$SYS", "~",
	"~YWRh", "{ada}", "%7bada%7d:x", "%ff%fe", "%c0%af", "%e2%80%ae", "%2e",
	"%25%30%30", "mallory%00ada", "mallory%0aada" };

/* The places that take a name. */
static const char *const targets[] = { "/v1/users/@/profile",
	"/v1/souls?user_id=@", "/v1/terminals?user_id=@",
	"/v1/sessions/s1/messages?user_id=@", "/v1/memories?user_id=@",
	"/v1/memories/export?user_id=@", "/v1/turns/turn_x?user_id=@",
	"/v1/sessions/s1/events?user_id=@", "/v1/terminals/x?user_id=@" };
static const char *const ids[] = { "/v1/souls/@/emotion",
	"/v1/souls/@/emotion/history", "/v1/sessions/@/messages",
	"/v1/terminals/@", "/v1/turns/@", "/v1/memories?soul_id=@",
	"/v1/memories/export?soul_id=@" };

/* The text, with name in place of each "@". */
static void
fill(char dst[512], const char *text, const char *name)
{
	struct buf b = BUF_INIT(511);

	for (; text != NULL && *text != '\0'; text++) {
		if (*text == '@')
			buf_puts(&b, name);
		else
			buf_putc(&b, *text);
	}
	snprintf(dst, 512, "%.*s", (int)b.n, b.n > 0 ? b.p : "");
	buf_free(&b);
}

static int
name_it(const char *target, const char *name)
{
	char path[512];
	struct tk_response a = { 0 };
	int status;

	fill(path, target, name);
	status = probe(&(struct probe){ .port = GATEWAY,
			   .from = 35,
			   .path = path,
			   .token = lock_token(LOCK_MALLORY_TOO) },
	    &a);
	ck_assert_ptr_null(memmem(a.head.p, a.head.n, "X-A:", 4));
	tk_response_free(&a);
	return status;
}

TEST_T(no_two_names_share_a_subject, 60)
{
	struct client o = load_prepare(&stack);
	struct load *n = load_begin(&o);
	size_t i, k;
	int status;

	for (i = 0; i < NELEM(names); i++) {
		for (k = 0; k < NELEM(targets); k++) {
			status = name_it(targets[k], names[i]);
			ck_assert_msg(status == 403 || status == 400,
			    "%s with %s: %d", targets[k], names[i], status);
		}
	}
	load_end(n, NULL);
}

TEST_T(no_id_is_interpreted, 60)
{
	size_t i, k;
	int status;

	for (i = 0; i < NELEM(names); i++) {
		for (k = 0; k < NELEM(ids); k++) {
			status = name_it(ids[k], names[i]);
			ck_assert_msg(status == 400 || status == 404 ||
				(status == 200 && strchr(ids[k], '?') != NULL),
			    "%s with %s: %d", ids[k], names[i], status);
		}
	}
}
