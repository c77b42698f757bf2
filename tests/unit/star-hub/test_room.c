/* Members of rooms, and holders of identities. */
#include "core/mem.h"
#include "directory.h"
#include "room.h"
#include "testkit/testkit.h"

TEST(members_join_and_leave)
{
	struct room_member m[100] = { 0 };
	struct rooms *r = rooms_new();
	bool seen[100] = { false };
	struct room *room;
	size_t i;

	ck_assert_ptr_null(rooms_find(r, STR("t/e//env")));
	for (i = 0; i < NELEM(m); i++) {
		m[i].client = &m[i];
		room_join(r, STR("t/e//env"), &m[i]);
	}
	room = rooms_find(r, STR("t/e//env"));
	ck_assert_uint_eq(room_count(room), NELEM(m));
	ck_assert(str_eq(room_env(room), STR("env")));
	/* Every third one leaves. */
	for (i = 0; i < NELEM(m); i += 3)
		room_leave(&m[i]);
	for (i = 0; i < room_count(room); i++) {
		size_t k =
		    (size_t)((struct room_member *)room_member_at(room, i)
				 ->client -
			m);

		ck_assert(!seen[k] && k % 3 != 0);
		seen[k] = true;
	}
	ck_assert_uint_eq(room_count(room), 66);
	for (i = 0; i < NELEM(m); i++)
		room_leave(&m[i]);
	ck_assert_ptr_null(rooms_find(r, STR("t/e//env")));
	ck_assert_uint_eq(room_count(NULL), 0);
	rooms_free(r);
}

TEST(a_client_may_be_in_several_rooms)
{
	struct room_member a = { .client = &a }, b = { .client = &a };
	struct rooms *r = rooms_new();

	room_join(r, STR("/e//one"), &a);
	room_join(r, STR("/e//two"), &b);
	room_leave(&a);
	ck_assert_ptr_null(rooms_find(r, STR("/e//one")));
	ck_assert_uint_eq(room_count(rooms_find(r, STR("/e//two"))), 1);
	room_leave(&b);
	rooms_free(r);
}

TEST(the_newest_holds_an_identity)
{
	static const struct identity env = { .class = CLASS_ENVIRONMENT,
		.tenant = STR_INIT("t"),
		.env = STR_INIT("env"),
		.id = STR_INIT("env") };
	struct directory *d = directory_new();
	char text[IDENTITY_KEY_MAX];
	int a, b;
	size_t pos = 0;

	ck_assert_ptr_null(directory_put(d, &env, &a));
	ck_assert_ptr_eq(directory_put(d, &env, &b), &a);
	ck_assert_uint_eq(directory_count(d, CLASS_ENVIRONMENT, STR("t")), 1);
	/* The end of the older one. */
	directory_remove(d, &env, &a);
	ck_assert_ptr_eq(directory_find(d, identity_key(&env, text)), &b);
	ck_assert_uint_eq(directory_count(d, CLASS_ENVIRONMENT, STR("t")), 1);
	ck_assert_ptr_eq(directory_next(d, CLASS_ENVIRONMENT, &pos), &b);
	ck_assert_ptr_null(directory_next(d, CLASS_ENVIRONMENT, &pos));
	directory_remove(d, &env, &b);
	ck_assert_ptr_null(directory_find(d, identity_key(&env, text)));
	ck_assert_uint_eq(directory_count(d, CLASS_ENVIRONMENT, STR("t")), 0);
	ck_assert_ptr_null(directory_find(d, STR("nonsense")));
	directory_free(d);
}
