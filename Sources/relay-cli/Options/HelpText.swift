import RelayTool

/// What `--help`, `help` and `--version` print.
enum HelpText {
    static let version = "relay-cli \(Version.current)\n"

    static func text(for command: CommandName?) -> String {
        switch command {
        case nil, .help: overview
        case .watch: watch + points + options(of: .watch) + globalOptions
        case .top: top + options(of: .top) + globalOptions
        case .history: history + points + options(of: .history) + globalOptions
        case .export: export + points + options(of: .export) + globalOptions
        case .call: call + globalOptions
        case .list: list + options(of: .list) + globalOptions
        case .status: status + globalOptions
        }
    }

    private static let overview =
        """
        Usage: relay-cli [OPTION…] COMMAND [ARGUMENT…]

        Shows and commands a service that publishes typed events on D-Bus, from what the
        service tells about itself: any service built with RelayCore will do.

        Commands:
          watch [EVENT…]              a line for each event, as it happens
          top [EVENT…]                rates, latencies and subscribers, live
          history [EVENT…]            the events that the service keeps, then ends
          export [EVENT…]             the same for programs: JSON Lines or CSV
          call COMMAND [key=value…]   runs a command and prints its reply
          list                        what the service offers: events, commands, properties
          status                      how much the service keeps
          help [COMMAND]              this text, or a command's

        \(globalOptions)
        Exit codes: 0 success, 1 the service refused, 64 wrong usage or an unknown name,
        65 bad value, or events that are not kept, 69 no service or no bus, 70 the service
        failed, 73 no folder for the places of --resume, 74 the output could not be written,
        75 no reply in time, or another watch resumes by that name, 77 not permitted.

        """

    private static let watch =
        """
        Usage: relay-cli watch [EVENT…] [--since WHEN | --resume NAME [--cursors DIR]]
                               [--count N] [--for SECONDS] [--no-wait] [--sample N]

        Prints a line for each event as it happens: local time, sequence, name, fields.
            09:15:04.123 #17 BoxProvisioned boxID=3 capacity=10 title="Kitchen"
        EVENT is a name (BoxProvisioned) or one with its interface
        (org.eventrelay.Relocation1.BoxProvisioned); without any, all events are shown.
        Events that were missed are shown as a gap in their place. Waits for a service that
        is not there yet, and for one that went away. Ends with exit code 0 on SIGINT, on
        SIGTERM, and when --count or --for is met.

        Of an array of more than 16 numbers the first 8 are shown; with --json it is whole.

        On a terminal, of events that come faster than about 40 a second some are shown, of each
        name its share, and once a second how many were skipped; elsewhere every event is. Both
        can be had with --sample, but with --resume every event is shown.

        With --since, the events that the service keeps from WHEN on come first.
        With --resume, so do those after the last one that a watch of this name has written
        out; the first time, all that are kept. NAME is up to 64 letters, digits, '_' and '-',
        one for each set of events. Each event is shown at least once: after a kill, the last
        ones may come again. A second watch of the name at the same time is refused (75). The
        places are files of --cursors DIR, else of $XDG_STATE_HOME/relay/cursors, else of
        $HOME/.local/state/relay/cursors.
        Of a volatile interface no event is kept: it is shown from now on, and that is said.

        With --json an object a line; a gap is {"gap":{"interface":…,"first":5,"last":9}},
        what was skipped {"skipped":{"interface":…,"events":9812}}.
        Integers are exact; NaN and infinities are "NaN", "Infinity" and "-Infinity".


        """

    private static let top =
        """
        Usage: relay-cli top [EVENT…] [--for SECONDS] [--no-wait]

        Shows, brought up to date each second, for each interface and event:
            RATE/S    events that came in the last second
            P50, P99  from the publishing to the arrival here, of the last five seconds: half,
                      and 99 of 100, took no longer
            LAG       events of the interface by which the service was ahead
            LOST      events that did not come, and cannot be had
        and the course of the rate; and for each subscriber of the service by which lane it gets
        the events, and how many it has yet to see. EVENT is as in 'watch'.
        'q' and ctrl-C end it; ctrl-Z gives the terminal back until 'fg'.
        Where the output is no terminal, or a dumb one, and with --json (times in microseconds),
        it measures for a second, or --for SECONDS, prints a table, and ends.


        """

    private static let history =
        """
        Usage: relay-cli history [EVENT…] [--since WHEN] [--until WHEN] [--limit N]

        Prints the events that the service keeps, the oldest first, and ends: what was the
        newest when it began is the last. The lines, also with --json, and EVENT are as in
        'watch'. Events of several interfaces are put together by their time.
            relay-cli history --since 1h
            relay-cli history ItemMoved --since 2026-11-20 --limit 100
            relay-cli history | tail -n 20
        --limit N ends after the first N events from --since on. Events in between that the
        service has removed since are a gap in their place. Without --since, the oldest event
        that is kept is the first, and what was before it is not told.

        Exit codes: 65 the service keeps none of these events; 69 no service, or it went away.


        """

    private static let export =
        """
        Usage: relay-cli export [--format json|csv] [EVENT…] [--since WHEN] [--until WHEN]
                                [--limit N]

        Writes the events that 'history' would print, for programs. Memory does not grow with
        their number, and a reader that has enough may leave (| head).
        json: an object a line: event, interface, epoch (of the run of the service; a text, as
        it has 64 random bits), sequence, previous, publishedAt, lane, fields. A gap is a line
        {"gap":{…}} as in 'watch'. Integers are exact.
        csv: RFC 4180, with a header, lines ended by CR LF, UTF-8. If EVENT is one event:
            sequence,epoch,previous,publishedAt and a column for each of its fields,
            also for those that only older versions of the event had; else:
            event,interface,sequence,epoch,previous,publishedAt,fields with fields as JSON.
        A text is as it is, a missing one is nothing, an empty one is ""; arrays, structures
        and dictionaries are JSON. A terminal is shown control characters as \\u001b.
        Gaps are told on stderr, too, in CSV only there.

        Exit codes as in 'history'.


        """

    /// What WHEN is.
    private static let points =
        """
        WHEN is
            17                          a sequence, of one interface
            2026-11-20T13:00:00         a local time; also with a blank, without seconds, or
                                        with decimals
            2026-11-20                  the beginning of that day
            13:00                       that time today
            2026-11-20T13:00:00+01:00   a time with its zone (RFC 3339); Z is UTC
            @1795179600                 seconds since 1970
            90s, 15m, 2h, 3d            that long ago
            start                       the oldest event that is kept (--since only)
        --since and --until include the event, and the very time, that they name. Times are
        those of the service's clock: where it was set back, a range may begin or end at any
        event at which it passed the time.


        """

    private static let call =
        """
        Usage: relay-cli call COMMAND [key=value…]

        Runs a command and prints the fields of its reply. COMMAND is a name (OrderBox) or
        one with its interface (org.eventrelay.Relocation1.OrderBox); 'list' shows them.
            relay-cli call OrderBox label=Kitchen capacity=10
        A number, a text and true or false are given as they are; arrays, structures and
        dictionaries as JSON: sizes='[{"width":1.5,"height":2}]'. A field that may be
        missing (a '?' in 'list') may be left out.

        Exit codes: 1 the service refused, in a way that the command declares; 64 no such
        command or key; 65 a value that does not fit, or was not accepted; 69 no service;
        75 no reply in time: the command may have run.


        """

    private static let list =
        """
        Usage: relay-cli list [--all]

        Prints the service's interfaces with their events, commands and properties, and the
        names and types of their fields.


        """

    private static let status =
        """
        Usage: relay-cli status

        Prints how each of the service's interfaces keeps its events, and for those that do
        which and how many are kept; whether its ring is open, whether signals pause, and who
        subscribes: bus name, events, lane, the last sequence it has (0: unknown).


        """

    private static func options(of command: CommandName) -> String {
        "Options:\n" + OptionKey.lines(OptionKey.allCases.filter { $0.commands?.contains(command) ?? false }) + "\n"
    }

    private static let globalOptions =
        "Options of every command:\n" + OptionKey.lines(OptionKey.allCases.filter { $0.commands == nil })
}
