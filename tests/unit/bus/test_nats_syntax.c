/*
 * Validation of the parts of a NATS protocol line.
 */
#include <stdlib.h>
#include <string.h>

#include "bus/bus_internal.h"
#include "testkit/testkit.h"

TEST(subjects_are_validated)
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
		ck_assert_msg(
		    bus_subject_valid(all[i].s, false) == all[i].plain,
		    "publish \"%s\"", all[i].s);
		ck_assert_msg(bus_subject_valid(all[i].s, true) == all[i].wild,
		    "subscribe \"%s\"", all[i].s);
	}
	ck_assert(!bus_subject_valid(NULL, true));
}

TEST(subject_length_is_limited)
{
	char s[BUS_SUBJECT_MAX + 2];

	memset(s, 'a', sizeof(s));
	s[BUS_SUBJECT_MAX] = '\0';
	ck_assert(bus_subject_valid(s, false));
	s[BUS_SUBJECT_MAX] = 'a';
	s[BUS_SUBJECT_MAX + 1] = '\0';
	ck_assert(!bus_subject_valid(s, false));
	s[BUS_HEADER_VALUE_MAX] = '\0';
	ck_assert(bus_header_value_valid(s));
	s[BUS_HEADER_VALUE_MAX] = 'a';
	s[BUS_HEADER_VALUE_MAX + 1] = '\0';
	ck_assert(!bus_header_value_valid(s));
	s[128] = '\0';
	ck_assert(bus_queue_valid(s));
	s[128] = 'a';
	s[129] = '\0';
	ck_assert(!bus_queue_valid(s));
	s[64] = '\0';
	ck_assert(bus_token_valid(s));
	s[64] = 'a';
	s[65] = '\0';
	ck_assert(!bus_token_valid(s));
}

TEST(queues_tokens_and_header_values_are_validated)
{
	ck_assert(bus_queue_valid("intent-filter"));
	ck_assert(!bus_queue_valid("a b"));
	ck_assert(!bus_queue_valid("a*"));
	ck_assert(!bus_queue_valid(""));
	ck_assert(!bus_queue_valid(NULL));
	ck_assert(bus_token_valid("SOUL_EVENTS"));
	ck_assert(bus_token_valid("a-1"));
	ck_assert(!bus_token_valid("a.b"));
	ck_assert(!bus_token_valid(""));
	ck_assert(!bus_token_valid(NULL));
	ck_assert(bus_header_value_valid("a b: c"));
	ck_assert(bus_header_value_valid("\xe4\xbd\xa0"));
	ck_assert(!bus_header_value_valid("a\r\nb"));
	ck_assert(!bus_header_value_valid("a\tb"));
	ck_assert(!bus_header_value_valid(" a"));
	ck_assert(!bus_header_value_valid("a "));
	ck_assert(!bus_header_value_valid(""));
	ck_assert(!bus_header_value_valid(NULL));
}

TEST(a_server_url_is_validated)
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
	char *v[BUS_SERVERS_MAX];
	size_t i;
	int n;

	for (i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		n = -1;
		ck_assert_msg((bus_servers_parse(all[i].url, v, &n) == RC_OK) ==
			all[i].ok,
		    "\"%s\"", all[i].url);
		ck_assert_int_eq(n, all[i].ok ? 1 : -1);
		if (n == 1) {
			ck_assert_str_eq(v[0], all[i].url);
			bus_servers_free(v, n);
		}
	}
	ck_assert_int_eq(bus_servers_parse(NULL, v, &n), RC_INVALID);
}

TEST(server_lists_are_split)
{
	char *v[BUS_SERVERS_MAX];
	char urls[32 * (BUS_SERVERS_MAX + 1)] = "nats://h";
	int n, i;

	ck_assert_int_eq(
	    bus_servers_parse(" nats://a:1 ,nats://b, nats://c:3", v, &n),
	    RC_OK);
	ck_assert_int_eq(n, 3);
	ck_assert_str_eq(v[0], "nats://a:1");
	ck_assert_str_eq(v[1], "nats://b");
	ck_assert_str_eq(v[2], "nats://c:3");
	bus_servers_free(v, n);
	ck_assert_int_eq(
	    bus_servers_parse("nats://a,,nats://b", v, &n), RC_INVALID);
	ck_assert_int_eq(bus_servers_parse("nats://a,", v, &n), RC_INVALID);
	ck_assert_int_eq(
	    bus_servers_parse("nats://a,http://b", v, &n), RC_INVALID);
	ck_assert_int_eq(
	    bus_servers_parse("nats://a,tls://b", v, &n), RC_INVALID);
	ck_assert_int_eq(
	    bus_servers_parse("tls://a,nats://b", v, &n), RC_INVALID);
	ck_assert_int_eq(bus_servers_parse("tls://a,tls://b:1", v, &n), RC_OK);
	ck_assert(bus_url_is_tls(v[0]));
	bus_servers_free(v, n);
	ck_assert(!bus_url_is_tls("nats://tls://"));
	for (i = 1; i < BUS_SERVERS_MAX; i++)
		memcpy(urls + strlen(urls), ",nats://h", 10);
	ck_assert_int_eq(bus_servers_parse(urls, v, &n), RC_OK);
	ck_assert_int_eq(n, BUS_SERVERS_MAX);
	bus_servers_free(v, n);
	memcpy(urls + strlen(urls), ",nats://h", 10);
	ck_assert_int_eq(bus_servers_parse(urls, v, &n), RC_TOOBIG);
}
