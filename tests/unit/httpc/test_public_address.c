/* Which addresses are of the public internet. */
#include <arpa/inet.h>
#include <netinet/in.h>

#include "core/mem.h"
#include "httpc/public_address.h"
#include "testkit/testkit.h"

static bool
is_public(const char *text)
{
	struct sockaddr_in a4 = { .sin_family = AF_INET };
	struct sockaddr_in6 a6 = { .sin6_family = AF_INET6 };

	if (inet_pton(AF_INET, text, &a4.sin_addr) == 1)
		return public_address_is((const struct sockaddr *)&a4);
	ck_assert_msg(
	    inet_pton(AF_INET6, text, &a6.sin6_addr) == 1, "%s", text);
	return public_address_is((const struct sockaddr *)&a6);
}

TEST(public_addresses_are_allowed_up_to_the_borders)
{
	static const char *const list[] = { "1.1.1.1", "9.255.255.255",
		"11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255",
		"128.0.0.0", "169.253.255.255", "169.255.0.0", "172.15.255.255",
		"172.32.0.0", "192.0.1.0", "192.0.3.0", "192.167.255.255",
		"192.169.0.0", "198.17.255.255", "198.20.0.0",
		"223.255.255.255", "2001:200::1", "2606:4700::1111", "3000::1",
		"::ffff:1.1.1.1", "64:ff9b::8.8.8.8", "2001:db7::1",
		"2001:db9::1" };
	size_t i;

	for (i = 0; i < NELEM(list); i++)
		ck_assert_msg(is_public(list[i]), "%s", list[i]);
}

TEST(special_addresses_are_not)
{
	static const char *const list[] = { "0.0.0.0", "0.1.2.3", "10.0.0.1",
		"10.255.255.255", "100.64.0.0", "100.127.255.255", "127.0.0.1",
		"127.255.255.255", "169.254.169.254", "172.16.0.1",
		"172.31.255.255", "192.0.0.1", "192.0.2.1", "192.88.99.1",
		"192.168.0.1", "198.18.0.1", "198.19.255.255", "198.51.100.1",
		"203.0.113.1", "224.0.0.1", "239.255.255.255", "240.0.0.1",
		"255.255.255.255", "::", "::1", "::ffff:127.0.0.1",
		"::ffff:10.0.0.1", "::127.0.0.1", "64:ff9b::169.254.169.254",
		"64:ff9b:1::1.1.1.1", "fe80::1", "fc00::1", "fd12:3456::1",
		"fec0::1", "ff02::1", "2001:db8::1", "2001::1",
		"2001:1ff:ffff::1", "2002:7f00:1::1", "2002:101:101::1",
		"3fff::1", "3fff:fff::1", "4000::1", "100::1", "5f00::1" };
	size_t i;

	for (i = 0; i < NELEM(list); i++)
		ck_assert_msg(!is_public(list[i]), "%s", list[i]);
}

TEST(other_kinds_of_addresses_are_not)
{
	const struct sockaddr a = { .sa_family = AF_UNIX };

	ck_assert(!public_address_is(&a));
}
