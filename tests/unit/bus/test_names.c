/*
 * What may stand in a line of the NATS protocol.
 */
#include <stdlib.h>
#include <string.h>

#include "bus/names.h"
#include "testkit/testkit.h"

TEST(subjects)
{
	static const struct {
		const char *s;
		bool plain, wild;
	} all[] = {
		{ "a", true, true },
		{ "a.b.c", true, true },
		{ "$SRV.PING.x-y_z", true, true },
		{ "soul.body.main.~5L2g5aW9.invoke", true, true },
		{ "a.*", false, true },
		{ "*.a.*", false, true },
		{ "*", false, true },
		{ ">", false, true },
		{ "a.>", false, true },
		{ ">.a", false, false },
		{ "a.>.b", false, false },
		{ "a*", false, false },
		{ "*a", false, false },
		{ "a.b>", false, false },
		{ "**", false, false },
		{ "", false, false },
		{ ".", false, false },
		{ ".a", false, false },
		{ "a.", false, false },
		{ "a..b", false, false },
		{ " ", false, false },
		{ "a b", false, false },
		{ "a\t", false, false },
		{ "a\r\n", false, false },
		{ "a\x01", false, false },
		{ "a\x7f", false, false },
		{ "\xe4\xbd\xa0", false, false },
	};
	size_t i;

	for (i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		ck_assert_msg(names_subject_ok(all[i].s, false) == all[i].plain,
		    "publish \"%s\"", all[i].s);
		ck_assert_msg(names_subject_ok(all[i].s, true) == all[i].wild,
		    "subscribe \"%s\"", all[i].s);
	}
	ck_assert(!names_subject_ok(NULL, true));
}

TEST(lengths)
{
	char s[NAMES_SUBJECT_MAX + 2];

	memset(s, 'a', sizeof(s));
	s[NAMES_SUBJECT_MAX] = '\0';
	ck_assert(names_subject_ok(s, false));
	s[NAMES_SUBJECT_MAX] = 'a';
	s[NAMES_SUBJECT_MAX + 1] = '\0';
	ck_assert(!names_subject_ok(s, false));
	s[NAMES_HEADER_MAX] = '\0';
	ck_assert(names_header_ok(s));
	s[NAMES_HEADER_MAX] = 'a';
	s[NAMES_HEADER_MAX + 1] = '\0';
	ck_assert(!names_header_ok(s));
	s[128] = '\0';
	ck_assert(names_queue_ok(s));
	s[128] = 'a';
	s[129] = '\0';
	ck_assert(!names_queue_ok(s));
	s[64] = '\0';
	ck_assert(names_token_ok(s));
	s[64] = 'a';
	s[65] = '\0';
	ck_assert(!names_token_ok(s));
}

TEST(queues_tokens_headers)
{
	ck_assert(names_queue_ok("intent-filter"));
	ck_assert(!names_queue_ok("a b"));
	ck_assert(!names_queue_ok("a*"));
	ck_assert(!names_queue_ok(""));
	ck_assert(!names_queue_ok(NULL));
	ck_assert(names_token_ok("SOUL_EVENTS"));
	ck_assert(names_token_ok("a-1"));
	ck_assert(!names_token_ok("a.b"));
	ck_assert(!names_token_ok(""));
	ck_assert(!names_token_ok(NULL));
	ck_assert(names_header_ok("a b: c"));
	ck_assert(names_header_ok("\xe4\xbd\xa0"));
	ck_assert(!names_header_ok("a\r\nb"));
	ck_assert(!names_header_ok("a\tb"));
	ck_assert(!names_header_ok(" a"));
	ck_assert(!names_header_ok("a "));
	ck_assert(!names_header_ok(""));
	ck_assert(!names_header_ok(NULL));
}

TEST(one_server)
{
	static const struct {
		const char *url;
		bool ok;
	} all[] = {
		{ "nats://127.0.0.1:4222", true },
		{ "nats://nats", true },
		{ "nats://nats.soul.svc.cluster.local:4222", true },
		{ "nats://nats:4222/", true },
		{ "nats://[::1]:4222", true },
		{ "nats://[::1]", true },
		{ "nats://user:p%40ss@nats:4222", true },
		{ "nats://user:p@ss@nats:4222", true },
		{ "nats://token@nats", true },
		{ "", false },
		{ "nats", false },
		{ "nats:4222", false },
		{ "nats:/x", false },
		{ "tls://nats:4222", true },
		{ "tls://user:p@[::1]:4222", true },
		{ "tls://", false },
		{ "tls:nats", false },
		{ "NATS://nats", false },
		{ "nats://", false },
		{ "nats:///", false },
		{ "nats://:4222", false },
		{ "nats://nats:", false },
		{ "nats://nats:0", false },
		{ "nats://nats:+1", false },
		{ "nats://nats:65536", false },
		{ "nats://nats:4222:1", false },
		{ "nats://nats:4222/x", false },
		{ "nats://nats?x", false },
		{ "nats://@nats", false },
		{ "nats://user:pass@", false },
		{ "nats://a b", false },
		{ "nats://u\"x:p@nats", false },
		{ "nats://[::1", false },
		{ "nats://[x]:1", false },
		{ "nats://[]:1", false },
	};
	char *v[NAMES_SERVERS_MAX];
	size_t i;
	int n;

	for (i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		n = -1;
		ck_assert_msg(
		    (names_servers(all[i].url, v, &n) == RC_OK) == all[i].ok,
		    "\"%s\"", all[i].url);
		ck_assert_int_eq(n, all[i].ok ? 1 : -1);
		if (n == 1) {
			ck_assert_str_eq(v[0], all[i].url);
			names_servers_free(v, n);
		}
	}
	ck_assert_int_eq(names_servers(NULL, v, &n), RC_INVALID);
}

TEST(several_servers)
{
	char *v[NAMES_SERVERS_MAX];
	char urls[32 * (NAMES_SERVERS_MAX + 1)] = "nats://h";
	int n, i;

	ck_assert_int_eq(
	    names_servers(" nats://a:1 ,nats://b, nats://c:3", v, &n), RC_OK);
	ck_assert_int_eq(n, 3);
	ck_assert_str_eq(v[0], "nats://a:1");
	ck_assert_str_eq(v[1], "nats://b");
	ck_assert_str_eq(v[2], "nats://c:3");
	names_servers_free(v, n);
	ck_assert_int_eq(
	    names_servers("nats://a,,nats://b", v, &n), RC_INVALID);
	ck_assert_int_eq(names_servers("nats://a,", v, &n), RC_INVALID);
	ck_assert_int_eq(names_servers("nats://a,http://b", v, &n), RC_INVALID);
	ck_assert_int_eq(names_servers("nats://a,tls://b", v, &n), RC_INVALID);
	ck_assert_int_eq(names_servers("tls://a,nats://b", v, &n), RC_INVALID);
	ck_assert_int_eq(names_servers("tls://a,tls://b:1", v, &n), RC_OK);
	ck_assert(names_tls(v[0]));
	names_servers_free(v, n);
	ck_assert(!names_tls("nats://tls://"));
	for (i = 1; i < NAMES_SERVERS_MAX; i++)
		memcpy(urls + strlen(urls), ",nats://h", 10);
	ck_assert_int_eq(names_servers(urls, v, &n), RC_OK);
	ck_assert_int_eq(n, NAMES_SERVERS_MAX);
	names_servers_free(v, n);
	memcpy(urls + strlen(urls), ",nats://h", 10);
	ck_assert_int_eq(names_servers(urls, v, &n), RC_TOOBIG);
}
