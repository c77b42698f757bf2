/* Arguments as headers. */
#include "http_param.h"
#include "testkit/testkit.h"

static void
headers_are(const char *schema, const char *arguments, const char *want)
{
	struct buf b = BUF_INIT(8192);
	size_t i;

	http_param_put(str_of(schema), str_of(arguments), &b);
	for (i = 0; i < b.n; i++)
		if (b.p[i] == '\0')
			b.p[i] = '\n';
	ck_assert_str_eq(b.n > 0 ? b.p : "", want);
	buf_free(&b);
}

#define SCHEMA                                                           \
	"{\"properties\":{\"a\":{\"x-mcp-header\":\"Region\"},"          \
	"\"b\":{\"type\":\"string\"},\"c\":{\"x-mcp-header\":\"Count\"}" \
	"}}"

TEST(marked_arguments_are_headers)
{
	headers_are(SCHEMA, "{\"a\":\"eu west\",\"b\":\"x\",\"c\":3}",
	    "Mcp-Param-Region: eu west\nMcp-Param-Count: 3\n");
	headers_are(SCHEMA, "{\"c\":true}", "Mcp-Param-Count: true\n");
	headers_are(SCHEMA, "{\"a\":{},\"c\":null}", "");
	headers_are("1", "{}", "");
	headers_are(SCHEMA, "", "");
}

TEST(a_value_cannot_end_its_line)
{
	headers_are(SCHEMA, "{\"a\":\"x\\r\\nHost: y\"}",
	    "Mcp-Param-Region: =?base64?eA0KSG9zdDogeQ==?=\n");
	headers_are(
	    SCHEMA, "{\"a\":\"家\"}", "Mcp-Param-Region: =?base64?5a62?=\n");
	headers_are(
	    SCHEMA, "{\"a\":\" x\"}", "Mcp-Param-Region: =?base64?IHg=?=\n");
	headers_are(SCHEMA, "{\"a\":\"\"}",
	    "Mcp-Param-Region: =?base64?"
	    "?=\n");
	headers_are(SCHEMA, "{\"a\":\"=?base64?eA==?=\"}",
	    "Mcp-Param-Region: =?base64?PT9iYXNlNjQ/ZUE9PT89?=\n");
}

TEST(a_schema_cannot_name_another_header)
{
	headers_are("{\"properties\":{\"a\":{\"x-mcp-header\":\"X: y\\r\\nZ\"}"
		    ",\"b\":{\"x-mcp-header\":\"\"}}}",
	    "{\"a\":\"1\",\"b\":\"2\"}", "");
}
