/*
 * Fuzzes log lines: pairs, each of a byte for its kind, two for its length, and
 * its content.  The result is one line of at most 4 KiB, marked if truncated.
 */
#include <fcntl.h>
#include <sanitizer/common_interface_defs.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/log.h"
#include "core/mem.h"
#include "must.h"

#define LINE_MAX_BYTES 4096
#define PAIRS_MAX      16
#define TEXT_MAX       8192
#define FILLING_MAX    4
/* ts, lvl, svc, ev */
#define FIRST_PAIRS 4
#define CUT         STR(" cut=true\n")

static int line_fd = -1, stderr_fd;

static void
begin(void)
{
	line_fd = memfd_create("line", MFD_CLOEXEC);
	stderr_fd = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
	must(line_fd >= 0 && stderr_fd >= 0);
	/* Errors of the fuzzer itself are still written. */
	__sanitizer_set_report_fd((void *)(intptr_t)stderr_fd);
}

static size_t
line_of(const struct log_kv *kv, char *dst, size_t max)
{
	must(ftruncate(line_fd, 0) == 0 && lseek(line_fd, 0, SEEK_SET) == 0);
	must(dup2(line_fd, STDERR_FILENO) == STDERR_FILENO);
	log_event(LOG_WARN, "e", kv);
	must(dup2(stderr_fd, STDERR_FILENO) == STDERR_FILENO);
	ssize_t n = pread(line_fd, dst, max, 0);
	must(n > 0);
	return (size_t)n;
}

/* Each in a heap block, so that the sanitizer finds overreads. */
static struct str
text_of(const uint8_t *filling, size_t m, size_t n)
{
	char *p = mem_alloc(n > 0 ? n : 1);

	for (size_t i = 0; i < n; i++)
		p[i] = m > 0 ? (char)filling[i % m] : 'a';
	return (struct str){ p, n };
}

static size_t
read_pair(const uint8_t *data, size_t n, struct log_kv *kv, char key[80])
{
	size_t fill = (data[0] >> 3) % (FILLING_MAX + 1), m = data[1];
	uint8_t kind = data[0] & 7;

	m = (m | (size_t)data[2] << 8) % TEXT_MAX;
	if (fill > n - 3)
		fill = n - 3;
	for (size_t i = 0; i < 79 && i <= m; i++)
		key[i] = fill > 0 && data[3] != 0 ? (char)data[3] : 'k';
	key[kind == 5 && m < 79 ? m + 1 : 1] = '\0';
	switch (kind) {
	case 0:
		*kv = LOG_I(key, (int64_t)m - TEXT_MAX / 2);
		break;
	case 1:
		*kv = LOG_I(key, INT64_MIN);
		break;
	case 2:
		*kv = LOG_F(key, (double)m / 3e9);
		break;
	default:
		*kv = LOG_V(key, text_of(data + 3, fill, m));
		break;
	}
	return 3 + fill;
}

static size_t
end_of_value(struct str line, size_t i)
{
	if (line.p[i] != '"') {
		while (line.p[i] != ' ' && line.p[i] != '\n')
			i++;
		return i;
	}
	for (i++; line.p[i] != '"'; i++) {
		i += line.p[i] == '\\';
		must(i + 1 < line.n);
	}
	return i + 1;
}

static void
check_line(struct str line, size_t pairs)
{
	bool cut = str_ends(line, CUT);
	size_t i = 0, n = 0;

	must(line.n <= LINE_MAX_BYTES && str_utf8_count(line) > 0);
	must(memchr(line.p, '\n', line.n) == line.p + line.n - 1);
	for (; line.p[i] != '\n'; n++) {
		must(n == 0 || line.p[i++] == ' ');
		while (line.p[i] != '=')
			must(line.p[i] != ' ' && line.p[i++] != '\n');
		i = end_of_value(line, i + 1);
		must(i < line.n);
	}
	/* The last pair of a truncated line may have no value. */
	must(cut ? n <= FIRST_PAIRS + pairs + 1 : n == FIRST_PAIRS + pairs);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	static char line[2 * LINE_MAX_BYTES];
	struct log_kv kv[PAIRS_MAX + 1];
	char keys[PAIRS_MAX][80];
	size_t pairs = 0, i;

	if (line_fd < 0)
		begin();
	while (pairs < PAIRS_MAX && n > 3) {
		size_t used = read_pair(data, n, &kv[pairs], keys[pairs]);
		data += used;
		n -= used;
		pairs++;
	}
	kv[pairs] = (struct log_kv){ 0 };
	check_line(
	    (struct str){ line, line_of(kv, line, sizeof(line)) }, pairs);
	for (i = 0; i < pairs; i++)
		if (kv[i].kind == LOG_KV_STR)
			free((void *)(uintptr_t)kv[i].s.p);
	return 0;
}
