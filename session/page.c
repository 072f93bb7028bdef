/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * page: how wide reports are, and whether they have colours.
 *
 * Model
 *   A terminal has its own width, within bounds; files and pipes have one that is always the same, so that a report of
 *   the same run is. --width is for both. Files have no colours, standard error has them where it is a terminal:
 *   not with TERM=dumb, and not where NO_COLOR is set in c2emu's own environment, but for --color always.
 *
 * Source
 *   no-color.org: set and not empty.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "session/session_priv.h"

unsigned session_terminal_width(int fd)
{
    struct winsize size = {0};
    if (!isatty(fd) || ioctl(fd, TIOCGWINSZ, &size) != 0 || size.ws_col == 0)
        return 0;
    return size.ws_col < SESSION_NARROWEST ? SESSION_NARROWEST
           : size.ws_col > SESSION_WIDEST  ? SESSION_WIDEST
                                           : size.ws_col;
}

static bool is_set(const char *name)
{
    const char *value = getenv(name);
    return value && *value != '\0';
}

static bool takes_colours(int fd)
{
    const char *terminal = getenv("TERM");
    return isatty(fd) && !is_set("NO_COLOR") && !(terminal && strcmp(terminal, "dumb") == 0);
}

void session_page_of_file(struct report *report, const struct session_options *options)
{
    report_set_page(report, options->width != 0 ? (unsigned)options->width : REPORT_WIDTH, false);
}

void session_show_report(struct report *report, const struct session_options *options)
{
    const unsigned own = session_terminal_width(STDERR_FILENO);
    const bool coloured = options->color == SESSION_COLOR_ALWAYS ||
                          (options->color == SESSION_COLOR_AUTO && takes_colours(STDERR_FILENO));
    report_set_page(report, options->width != 0 ? (unsigned)options->width : own != 0 ? own : REPORT_WIDTH, coloured);
    report_text(stderr, report, NULL);
    session_page_of_file(report, options);
}
