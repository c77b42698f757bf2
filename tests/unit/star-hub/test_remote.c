/* Messages that wait until it is known where their recipient is. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cluster/remote.h"
#include "core/mem.h"
#include "testkit/testkit.h"

/* A message whose text is its name. */
static struct outgoing *
outgoing_of(const char *name, bool returned)
{
	struct outgoing *o = outgoing_new(
	    NULL, 1, STR("\"m\""), STR("one/a/demo_world/agent_001"));

	outgoing_set_bytes(o, str_of(name));
	o->returned = returned;
	return o;
}

static void
take_all(struct remotes *r, struct remote *e)
{
	struct outgoing *o;

	while ((o = remote_take(r, e)) != NULL)
		outgoing_free(o);
}

TEST(a_message_has_copies_of_its_texts)
{
	char id[] = "\"m1\"", to[] = "/h//bob";
	struct outgoing *o = outgoing_new(NULL, 7, str_of(id), str_of(to));

	memset(id, 'x', sizeof(id) - 1);
	memset(to, 'x', sizeof(to) - 1);
	ck_assert(str_eq(o->message_id, STR("\"m1\"")));
	ck_assert(str_eq(o->to, STR("/h//bob")));
	ck_assert_uint_eq(o->seq, 7);
	ck_assert_ptr_null(o->bytes);
	outgoing_set_bytes(o, STR("first"));
	outgoing_set_bytes(o, STR("ab"));
	ck_assert(str_eq((struct str){ o->bytes, o->n }, STR("ab")));
	outgoing_free(o);
	o = outgoing_new(
	    NULL, 7, (struct str){ NULL, 0 }, (struct str){ NULL, 0 });
	ck_assert_ptr_null(o->message_id.p);
	ck_assert_ptr_null(o->to.p);
	outgoing_free(o);
}

/* Those that wait, in upper case if they were returned; then in this order. */
static const char *const wait_rows[][2] = {
	{ "abc", "abc" },
	{ "abCD", "CDab" },
	{ "AbCd", "ACbd" },
	{ "ABC", "ABC" },
	{ "aBcDeF", "BDFace" },
};

TEST(returned_messages_go_before_others)
{
	struct remotes *r = remotes_new();
	struct remote *e = remotes_get(r, STR("/h//bob"));
	char name[2] = { 0 }, order[8];
	struct outgoing *o;
	const char *p;
	size_t i, n;

	for (i = 0; i < NELEM(wait_rows); i++) {
		for (p = wait_rows[i][0]; *p != '\0'; p++) {
			name[0] = *p;
			ck_assert(
			    remote_wait(r, e, outgoing_of(name, *p < 'a')));
		}
		for (n = 0; (o = remote_take(r, e)) != NULL; n++) {
			order[n] = o->bytes[0];
			outgoing_free(o);
		}
		order[n] = '\0';
		ck_assert_str_eq(order, wait_rows[i][1]);
		ck_assert(remotes_is_idle(e));
	}
	remotes_free(r);
}

TEST(so_many_messages_of_one_wait_at_most)
{
	struct remotes *r = remotes_new();
	struct remote *e = remotes_get(r, STR("/h//bob"));
	struct remote *other = remotes_get(r, STR("/h//eve"));
	struct outgoing *o = outgoing_of("more", false);
	size_t i;

	for (i = 0; i < REMOTE_WAIT_MAX; i++)
		ck_assert(remote_wait(r, e, outgoing_of("x", false)));
	ck_assert(!remote_wait(r, e, o));
	/* Another one has its own. */
	ck_assert(remote_wait(r, other, o));
	take_all(r, other);
	outgoing_free(remote_take(r, e));
	ck_assert(remote_wait(r, e, outgoing_of("x", false)));
	take_all(r, e);
	remotes_free(r);
}

TEST(so_many_bytes_wait_at_most)
{
	enum { SIZE = 1024 * 1024 };
	const size_t each = REMOTE_WAIT_BYTES / SIZE;
	char *bytes = mem_zalloc(SIZE), key[32];
	struct remotes *r = remotes_new();
	struct outgoing *o = NULL;
	struct remote *e;
	size_t i, k, n = 0;

	for (i = 0; i <= REMOTE_WAITING_MAX / REMOTE_WAIT_BYTES; i++) {
		(void)snprintf(key, sizeof(key), "/h//bob%zu", i);
		e = remotes_get(r, str_of(key));
		for (k = 0;; k++) {
			o = outgoing_of("", false);
			outgoing_set_bytes(o, (struct str){ bytes, SIZE });
			if (!remote_wait(r, e, o))
				break;
		}
		outgoing_free(o);
		ck_assert_uint_le(k, each);
		n += k;
	}
	/* The last one had no room, although it has none that waits. */
	ck_assert_uint_eq(k, 0);
	ck_assert_uint_eq(n * SIZE, REMOTE_WAITING_MAX);
	for (e = remotes_next(r, NULL); e != NULL; e = remotes_next(r, e))
		take_all(r, e);
	o = outgoing_of("", false);
	outgoing_set_bytes(o, (struct str){ bytes, SIZE });
	ck_assert(remote_wait(r, remotes_find(r, str_of(key)), o));
	take_all(r, remotes_find(r, str_of(key)));
	free(bytes);
	remotes_free(r);
}

TEST(the_oldest_that_nothing_waits_for_is_forgotten)
{
	struct remotes *r = remotes_new();
	struct remote *first, *second, *third;
	char key[32];
	size_t i;

	first = remotes_get(r, STR("/h//first"));
	second = remotes_get(r, STR("/h//second"));
	third = remotes_get(r, STR("/h//third"));
	first->finding = true;
	ck_assert(remote_wait(r, second, outgoing_of("x", false)));
	/* What it has of another hub goes first. */
	third->after = (struct peer *)(void *)key;
	for (i = 3; i < REMOTES_MAX; i++) {
		(void)snprintf(key, sizeof(key), "/h//bob%zu", i);
		(void)remotes_get(r, str_of(key));
	}
	ck_assert_ptr_nonnull(remotes_find(r, STR("/h//bob3")));
	(void)remotes_get(r, STR("/h//eve"));
	ck_assert_ptr_null(remotes_find(r, STR("/h//bob3")));
	ck_assert_ptr_nonnull(remotes_find(r, STR("/h//bob4")));
	ck_assert_ptr_eq(remotes_find(r, STR("/h//first")), first);
	ck_assert_ptr_eq(remotes_find(r, STR("/h//second")), second);
	ck_assert_ptr_eq(remotes_find(r, STR("/h//third")), third);
	/* One that is known is the same. */
	ck_assert_ptr_eq(remotes_get(r, STR("/h//first")), first);
	ck_assert_ptr_nonnull(remotes_find(r, STR("/h//bob4")));
	remotes_forget(r, first);
	ck_assert_ptr_nonnull(remotes_find(r, STR("/h//first")));
	first->finding = false;
	remotes_forget(r, first);
	ck_assert_ptr_null(remotes_find(r, STR("/h//first")));
	take_all(r, second);
	remotes_free(r);
	remotes_free(NULL);
}
