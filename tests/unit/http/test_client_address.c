/* Addresses, networks, X-Forwarded-For. */
#include "core/buf.h"
#include "core/mem.h"
#include "http/client_address.h"
#include "http/header.h"
#include "testkit/testkit.h"

static struct client_addr p;
static struct proxy_nets nets;

TEST(addresses_are_parsed_and_normalized)
{
	static const char *const rows[][2] = {
		{ "192.0.2.1", "192.0.2.1" },
		{ "192.0.2.1:80", "192.0.2.1" },
		{ "2001:DB8::1", "2001:db8::1" },
		{ "[2001:db8::1]", "2001:db8::1" },
		{ "[2001:db8::1]:443", "2001:db8::1" },
		{ "::ffff:192.0.2.1", "192.0.2.1" },
		{ "[::ffff:192.0.2.1]:1", "192.0.2.1" },
	};
	static const char *const bad[] = { "", " ", "a", "unknown", "_hidden",
		"192.0.2", "192.0.2.1.2", "192.0.2.256",
		"192.0.2.1:", "192.0.2.1:x", "192.0.2.1:65536", ":80", "[]",
		"[::1", "::1]", "[::1]80", "[::1]:", "[192.0.2.1]",
		"2001:db8::1%eth0", "192.0.2.1, 192.0.2.2", "192.0.2.1\n",
		"0000:0000:0000:0000:0000:0000:0000:0000:0000:0000:0000" };

	for (size_t i = 0; i < NELEM(rows); i++) {
		ck_assert_msg(
		    client_addr_parse(str_of(rows[i][0]), &p) == RC_OK, "%s",
		    rows[i][0]);
		ck_assert_str_eq(p.text, rows[i][1]);
	}
	for (size_t i = 0; i < NELEM(bad); i++)
		ck_assert_msg(
		    client_addr_parse(str_of(bad[i]), &p) == RC_INVALID, "%s",
		    bad[i]);
	ck_assert_int_eq(
	    client_addr_parse((struct str){ "1.2.3.4\0005", 9 }, &p),
	    RC_INVALID);
	ck_assert_int_eq(client_addr_parse((struct str){ 0 }, &p), RC_INVALID);
}

TEST(ipv6_hosts_of_one_64_bit_network_are_one_client)
{
	struct client_addr q;

	ck_assert_int_eq(client_addr_parse(STR("2001:db8:0:1::1"), &p), RC_OK);
	ck_assert_int_eq(
	    client_addr_parse(STR("2001:db8:0:1:ffff::2"), &q), RC_OK);
	ck_assert_uint_eq(p.nkey, q.nkey);
	ck_assert_mem_eq(p.key, q.key, p.nkey);
	ck_assert_int_eq(client_addr_parse(STR("2001:db8:0:2::1"), &q), RC_OK);
	ck_assert_mem_ne(p.key, q.key, p.nkey);
	ck_assert_int_eq(client_addr_parse(STR("192.0.2.1"), &p), RC_OK);
	ck_assert_uint_ne(p.nkey, q.nkey);
}

static bool
addr_in_nets(const char *addr)
{
	ck_assert_int_eq(client_addr_parse(str_of(addr), &p), RC_OK);
	return proxy_nets_contain(&nets, p.addr);
}

TEST(proxy_networks_are_parsed)
{
	static const char *const bad[] = { ",", "10.0.0.0/8,", "10.0.0.0/33",
		"10.0.0.0/", "10.0.0.0/-1", "10.0.0.0/x", "10.0.0.1/8", "::1",
		"localhost", "10.0.0.0/8 10.0.0.1", "10.0.0.1:80", "/8" };
	struct buf b = BUF_INIT(4096);

	ck_assert_int_eq(
	    proxy_nets_parse(STR("10.0.0.0/8, 192.0.2.1"), &nets), RC_OK);
	ck_assert(addr_in_nets("10.0.0.0"));
	ck_assert(addr_in_nets("10.255.255.255"));
	ck_assert(!addr_in_nets("11.0.0.0"));
	ck_assert(addr_in_nets("192.0.2.1"));
	ck_assert(!addr_in_nets("192.0.2.2"));
	ck_assert_int_eq(proxy_nets_parse(STR("0.0.0.0/0"), &nets), RC_OK);
	ck_assert(addr_in_nets("255.1.2.3"));
	ck_assert_int_eq(proxy_nets_parse(STR(""), &nets), RC_OK);
	ck_assert(!addr_in_nets("0.0.0.0"));
	ck_assert_int_eq(proxy_nets_parse((struct str){ 0 }, &nets), RC_OK);
	ck_assert_uint_eq(nets.n, 0);
	for (size_t i = 0; i < NELEM(bad); i++)
		ck_assert_msg(
		    proxy_nets_parse(str_of(bad[i]), &nets) == RC_INVALID, "%s",
		    bad[i]);
	for (int i = 0; i < PROXY_NETS_MAX; i++)
		buf_printf(&b, "%s10.0.0.%d", i > 0 ? "," : "", i);
	ck_assert_int_eq(proxy_nets_parse(buf_str(&b), &nets), RC_OK);
	buf_puts(&b, ",10.1.0.1");
	ck_assert_int_eq(proxy_nets_parse(buf_str(&b), &nets), RC_TOOBIG);
	buf_free(&b);
}

TEST(the_client_is_found_behind_trusted_proxies)
{
	static const struct {
		const char *direct, *first, *second, *client;
	} rows[] = {
		/* The header counts only if the peer is a trusted proxy. */
		{ "192.0.2.9", "1.1.1.1", NULL, "192.0.2.9" },
		{ "10.0.0.1", "1.1.1.1", NULL, "1.1.1.1" },
		/* The client's own entries precede those of the proxy. */
		{ "10.0.0.1", "6.6.6.6, 1.1.1.1", NULL, "1.1.1.1" },
		{ "10.0.0.1", "6.6.6.6", "1.1.1.1", "1.1.1.1" },
		{ "10.0.0.1", "1.1.1.1,10.2.0.1 , 10.3.0.1", NULL, "1.1.1.1" },
		{ "10.0.0.1", "1.1.1.1", "10.2.0.1", "1.1.1.1" },
		{ "10.0.0.1", "10.4.0.1, 10.2.0.1", NULL, "10.4.0.1" },
		{ "10.0.0.1", "6.6.6.6, nonsense", NULL, "10.0.0.1" },
		{ "10.0.0.1", "6.6.6.6, nonsense, 10.2.0.1", NULL, "10.2.0.1" },
		{ "10.0.0.1", "6.6.6.6,", NULL, "10.0.0.1" },
		{ "10.0.0.1", "", NULL, "10.0.0.1" },
		{ "10.0.0.1", NULL, NULL, "10.0.0.1" },
		{ "10.0.0.1", "2001:db8::7", NULL, "2001:db8::7" },
	};

	ck_assert_int_eq(proxy_nets_parse(STR("10.0.0.0/8"), &nets), RC_OK);
	for (size_t i = 0; i < NELEM(rows); i++) {
		struct header_field f[] = {
			{ STR("Host"), STR("t") },
			{ STR("x-forwarded-for"), str_of(rows[i].first) },
			{ STR("X-Forwarded-For"), str_of(rows[i].second) },
		};
		size_t n = rows[i].second != NULL ? 3
		    : rows[i].first != NULL       ? 2
						  : 1;
		ck_assert_int_eq(
		    client_addr_find(&p, str_of(rows[i].direct), &nets, f, n),
		    RC_OK);
		ck_assert_msg(str_eq(str_of(p.text), str_of(rows[i].client)),
		    "%zu: %s", i, p.text);
	}
	ck_assert_int_eq(
	    client_addr_find(&p, STR(""), &nets, NULL, 0), RC_INVALID);
}
