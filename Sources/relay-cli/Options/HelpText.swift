import RelayTool

/// What `--help`, `help` and `--version` print.
enum HelpText {
    static let version = "relay-cli \(Version.current)\n"

    static func text(for command: CommandName?) -> String {
        switch command {
        case nil, .help: overview
        case .watch: watch + options(of: .watch) + globalOptions
        case .call: call + globalOptions
        case .list: list + options(of: .list) + globalOptions
        }
    }

    private static let overview =
        """
        Usage: relay-cli [OPTION…] COMMAND [ARGUMENT…]

        Shows and commands a service that publishes typed events on D-Bus, from what the
        service tells about itself: any service built with RelayCore will do.

        Commands:
          watch [EVENT…]              a line for each event, as it happens
          call COMMAND [key=value…]   runs a command and prints its reply
          list                        what the service offers: events, commands, properties
          help [COMMAND]              this text, or a command's

        \(globalOptions)
        Exit codes: 0 success, 1 the service refused, 64 wrong usage or an unknown name,
        65 bad value, 69 no service or no bus, 70 the service failed, 74 the output could
        not be written, 75 no reply in time, 77 not permitted.

        """

    private static let watch =
        """
        Usage: relay-cli watch [EVENT…] [--count N] [--for SECONDS] [--no-wait]

        Prints a line for each event as it happens: local time, sequence, name, fields.
            09:15:04.123 #17 BoxProvisioned boxID=3 capacity=10 title="Kitchen"
        EVENT is a name (BoxProvisioned) or one with its interface
        (org.eventrelay.Relocation1.BoxProvisioned); without any, all events are shown.
        Events that were missed are shown as a gap in their place. Waits for a service that
        is not there yet, and for one that went away. Ends with exit code 0 on SIGINT, on
        SIGTERM, and when --count or --for is met.

        With --json an object a line; a gap is {"gap":{"interface":…,"first":5,"last":9}}.
        Integers are exact; NaN and infinities are "NaN", "Infinity" and "-Infinity".


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

    private static func options(of command: CommandName) -> String {
        "Options:\n" + OptionKey.lines(OptionKey.allCases.filter { $0.command == command }) + "\n"
    }

    private static let globalOptions =
        "Options of every command:\n" + OptionKey.lines(OptionKey.allCases.filter { $0.command == nil })
}
