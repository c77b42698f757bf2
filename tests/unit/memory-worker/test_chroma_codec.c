/* Requests to Chroma, and its responses. */
#include "core/mem.h"
#include "store/store_internal.h"
#include "testkit/testkit.h"

static const struct memory_scope scope = { STR_INIT("u 1"), STR_INIT("s1") };

#define WHERE                                                                \
	"\"where\":{\"$and\":[{\"user_id\":{\"$eq\":\"u 1\"}},{\"soul_id\":" \
	"{\"$eq\":\"s1\"}}]}"

TEST(row_ids_differ_between_scopes)
{
	const struct memory_scope other = { STR("u"), STR("1/s1") };
	char row[CHROMA_ROW_MAX];

	ck_assert_int_eq(chroma_row_id(&scope, STR("j/1"), row), RC_OK);
	ck_assert_str_eq(row, "~dSAx/s1/~ai8x");
	ck_assert_int_eq(chroma_row_id(&other, STR("j"), row), RC_OK);
	ck_assert_str_eq(row, "u/~MS9zMQ/j");
	ck_assert_int_eq(chroma_row_id(&scope, STR(""), row), RC_INVALID);
}

TEST(requests_are_written)
{
	const double v[] = { 0.5, -1 };
	struct str tags[] = { STR_INIT("C 语言"), STR_INIT("$x") };
	const struct wire_memory_job job = { .job_id = STR("j1"),
		.text = STR("茶"),
		.type = WIRE_MEMORY_TYPE_SKILL,
		.trigger_source = STR("user"),
		.tags = tags,
		.n_tags = 2 };
	struct chroma_put put = { &scope, "r", &job, { 1999 }, v, 2, false };
	struct buf b = BUF_INIT(4096);

	chroma_write_collection("mem", STR("m"), &b);
	ck_assert_str_eq(b.p,
	    "{\"name\":\"mem\",\"get_or_create\":true,\"metadata\":"
	    "{\"soul_embedding\":\"m\"},\"configuration\":{\"hnsw\":"
	    "{\"space\":\"cosine\"}}}");
	buf_reset(&b);
	chroma_write_add(&put, &b);
	ck_assert_str_eq(b.p,
	    "{\"ids\":[\"r\"],\"embeddings\":[[0.5,-1]],\"documents\":[\"茶"
	    "\"],\"metadatas\":[{\"user_id\":\"u 1\",\"soul_id\":\"s1\","
	    "\"job_id\":\"j1\",\"type\":\"skill\",\"timestamp\":1,"
	    "\"trigger_source\":\"user\",\"tag_c_语言\":true,\"tag__x\":true,"
	    "\"tags_json\":\"[\\\"C 语言\\\",\\\"$x\\\"]\"}]}");
	buf_reset(&b);
	put.lists = true;
	chroma_write_add(&put, &b);
	ck_assert_ptr_nonnull(
	    strstr(b.p, "]\",\"tags\":[\"C 语言\",\"$x\"]}]}"));
	buf_reset(&b);
	chroma_write_query(&scope, v, 2, 7, &b);
	ck_assert_str_eq(b.p,
	    "{\"query_embeddings\":[[0.5,-1]],\"n_results\":7," WHERE
	    ",\"include\":[\"documents\",\"metadatas\",\"distances\"]}");
	buf_reset(&b);
	chroma_write_get(&scope, NULL, true, 10, 20, &b);
	ck_assert_str_eq(b.p,
	    "{" WHERE ",\"include\":[\"documents\",\"metadatas\"],\"limit\":10,"
	    "\"offset\":20}");
	buf_reset(&b);
	/* A row is deleted only within its scope. */
	chroma_write_delete(&scope, "r", &b);
	ck_assert_str_eq(b.p, "{\"ids\":[\"r\"]," WHERE "}");
	buf_free(&b);
}

static const struct {
	const char *body;
	enum rc rc;
} collections[] = {
	{ "{\"id\":\"a-1\",\"metadata\":{\"soul_embedding\":\"m\"}}", RC_OK },
	{ "{\"id\":\"a-1\",\"metadata\":{\"soul_embedding\":\"n\"}}",
	    RC_DENIED },
	{ "{\"id\":\"a-1\",\"metadata\":null}", RC_DENIED },
	{ "{\"id\":\"a-1\"}", RC_DENIED },
	{ "{\"id\":\"../x\",\"metadata\":{\"soul_embedding\":\"m\"}}",
	    RC_INVALID },
	{ "{}", RC_INVALID },
	{ "[]", RC_INVALID },
	{ "", RC_INVALID },
};

TEST(a_collection_of_another_model_is_denied)
{
	char id[CHROMA_COLLECTION_MAX];
	size_t i;

	for (i = 0; i < NELEM(collections); i++) {
		id[0] = '\0';
		ck_assert_msg(
		    chroma_read_collection(str_of(collections[i].body),
			STR("m"), id) == collections[i].rc,
		    "%s", collections[i].body);
		ck_assert_str_eq(
		    id, collections[i].rc == RC_INVALID ? "" : "a-1");
	}
}

#define META(user, soul)                                \
	"{\"user_id\":\"" user "\",\"soul_id\":\"" soul \
	"\",\"job_id\":\"j1\","                         \
	"\"type\":\"episode\",\"timestamp\":5}"
#define MINE META("u 1", "s1")

static const struct {
	const char *body;
	enum rc rc;
	size_t n, received;
} responses[] = {
	{ "{\"ids\":[[\"r\"]],\"documents\":[[\"茶\"]],\"metadatas\":[[" MINE
	  "]],\"distances\":[[0.25]]}",
	    RC_OK, 1, 1 },
	{ "{\"ids\":[\"r\"],\"documents\":[\"茶\"],\"metadatas\":[" MINE "]}",
	    RC_OK, 1, 1 },
	{ "{\"ids\":[\"r\"],\"documents\":null,\"metadatas\":[" MINE "]}",
	    RC_OK, 1, 1 },
	{ "{\"ids\":[[]],\"documents\":[[]],\"metadatas\":[[]]}", RC_OK, 0, 0 },
	{ "{\"ids\":[],\"documents\":[],\"metadatas\":[]}", RC_OK, 0, 0 },
	/* Rows of another scope, missing values, columns that are too short. */
	{ "{\"ids\":[\"r\"],\"documents\":[\"茶\"],\"metadatas\":[" META(
	      "u1", "s1") "]}",
	    RC_OK, 0, 1 },
	{ "{\"ids\":[\"r\"],\"documents\":[\"茶\"],\"metadatas\":[" META(
	      "u 1", "s2") "]}",
	    RC_OK, 0, 1 },
	{ "{\"ids\":[\"r\"],\"documents\":[null],\"metadatas\":[" MINE "]}",
	    RC_OK, 0, 1 },
	{ "{\"ids\":[\"r\"],\"documents\":[\"茶\"],\"metadatas\":[null]}",
	    RC_OK, 0, 1 },
	{ "{\"ids\":[\"r\",\"s\"],\"documents\":[\"茶\"],\"metadatas\":[" MINE
	  "]}",
	    RC_OK, 1, 2 },
	{ "{\"ids\":[\"r\"]}", RC_OK, 0, 1 },
	{ "{\"ids\":null}", RC_INVALID, 0, 0 },
	{ "{}", RC_INVALID, 0, 0 },
	{ "[]", RC_INVALID, 0, 0 },
	{ "{", RC_INVALID, 0, 0 },
};

TEST(responses_are_read)
{
	struct arena *a = arena_new(65536);
	struct chroma_rows rows;
	size_t i;

	for (i = 0; i < NELEM(responses); i++) {
		arena_reset(a);
		ck_assert_msg(chroma_read(str_of(responses[i].body), &scope, a,
				  &rows) == responses[i].rc,
		    "%s", responses[i].body);
		ck_assert_msg(rows.n == responses[i].n &&
			rows.received == responses[i].received,
		    "%zu of %zu: %s", rows.n, rows.received, responses[i].body);
		if (rows.n == 0)
			continue;
		ck_assert(str_eq(rows.row[0].id, STR("j1")));
		ck_assert_int_eq(rows.row[0].type, WIRE_MEMORY_TYPE_EPISODE);
		ck_assert_int_eq(rows.row[0].created.ms, 5000);
		ck_assert_int_eq(rows.row[0].has_near, i == 0);
	}
	ck_assert_int_eq(
	    chroma_read(str_of(responses[0].body), &scope, a, &rows), RC_OK);
	ck_assert_double_eq(rows.row[0].near, 0.75);
	arena_free(a);
}
