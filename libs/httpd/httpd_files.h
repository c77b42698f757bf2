/*
 * httpd_files: constant files of a service, such as the pages of a console.
 */
#ifndef HTTPD_HTTPD_FILES_H
#define HTTPD_HTTPD_FILES_H

#include <stdbool.h>
#include <stddef.h>

/*
 * A file, served to GET and HEAD on the thread that has read the request: the
 * loop, and how many workers are busy, do not matter.  All of it is borrowed,
 * and constant while the server runs.
 */
struct httpd_file {
	const char *path; /* as requested: "/console/app.js" */
	const char *type; /* Content-Type */
	const char *etag; /* weak, of its content: W/"…" */
	const char *plain, *plain_end;
	const char *gzip, *gzip_end; /* the same, compressed */
	/* Its path changes with its content: clients need never ask again. */
	bool immutable;
};

#endif /* !HTTPD_HTTPD_FILES_H */
