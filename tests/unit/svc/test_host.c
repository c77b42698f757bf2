/* Which Host headers are local. */
#include "core/mem.h"
#include "svc/svc_internal.h"
#include "testkit/testkit.h"

TEST(names_and_addresses_are_local_or_not)
{
	static const char *const local[] = { "", " ", "localhost", "LocalHost",
		"localhost:9010", " localhost ", "soul.localhost",
		"a.b.localhost:1", "127.0.0.1", "127.0.0.1:9010", "10.1.2.3",
		"[::1]", "[::1]:9010", "192.0.2.1:80" };
	static const char *const other[] = { "evil.example",
		"evil.example:9010", "localhost.evil.example", "localhost.",
		"notlocalhost", "127.0.0.1.evil.example", "127.0.0.1x",
		".localhost.x", "x", ":9010", "1e100.net" };
	size_t i;

	for (i = 0; i < NELEM(local); i++)
		ck_assert_msg(
		    svc_host_is_local(str_of(local[i])), "%s", local[i]);
	for (i = 0; i < NELEM(other); i++)
		ck_assert_msg(
		    !svc_host_is_local(str_of(other[i])), "%s", other[i]);
	ck_assert(svc_host_is_local((struct str){ NULL, 0 }));
}
