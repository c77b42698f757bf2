/* Requests and results of a device. */
#include <stdio.h>

#include "core/mem.h"
#include "sim_device.h"
#include "testkit/testkit.h"

TEST(a_request_is_new_one_time)
{
	struct request_cache *r = request_cache_new();
	char id[32];
	int i;

	ck_assert(request_cache_add(r, STR("a")));
	ck_assert(!request_cache_add(r, STR("a")));
	ck_assert_ptr_null(request_cache_result(r, STR("a")).p);
	request_cache_set_result(r, STR("a"), STR("yes"));
	request_cache_set_result(r, STR("b"), STR("not cached"));
	ck_assert(str_eq(request_cache_result(r, STR("a")), STR("yes")));
	ck_assert_ptr_null(request_cache_result(r, STR("b")).p);
	/* Only the oldest is dropped. */
	for (i = 0; i < REQUEST_CACHE_MAX - 1; i++) {
		snprintf(id, sizeof(id), "r%d", i);
		ck_assert(request_cache_add(r, str_of(id)));
	}
	ck_assert(!request_cache_add(r, STR("a")));
	ck_assert(request_cache_add(r, STR("one more")));
	ck_assert(!request_cache_add(r, STR("r0")));
	ck_assert_ptr_null(request_cache_result(r, STR("a")).p);
	ck_assert(request_cache_add(r, STR("a")));
	ck_assert(request_cache_add(r, STR("r0")));
	request_cache_free(r);
	request_cache_free(NULL);
}
