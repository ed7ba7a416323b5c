import RelayCore

/// What the command line asks for.
struct Options: Equatable, Sendable {
    var bus = Bus.session
    var service = "org.eventrelay.Service1"
    var title = "Moving house"
    /// nil: as GTK's settings say.
    var isDark: Bool?
    /// Where the layout is written after each frame; nil: nowhere.
    var report: String?
    /// Where F12 saves a picture of the window; nil: it does not.
    var pictures: String?

    static let help = """
        usage: moving-house [OPTION]...
        A window on relay-service: boxes, what is in them, and what happens to both.

          --bus ADDRESS      the bus at this D-Bus address; otherwise the session bus
          --service NAME     the service's name on the bus; otherwise org.eventrelay.Service1
          --title TEXT       what stands at the top
          --dark, --light    otherwise as GTK's settings say
          --report FILE      for tests: writes where each widget is, and what it shows, after each frame
          --pictures FOLDER  for tests: F12 saves a picture of the window there
          --help             this text

        """

    /// - Returns: nil if help is asked for.
    init?(_ arguments: [String]) throws(RelayError) {
        var rest = arguments[...]
        while let option = rest.popFirst() {
            switch option {
            case "--help": return nil
            case "--dark": isDark = true
            case "--light": isDark = false
            case "--bus", "--service", "--title", "--report", "--pictures":
                guard let value = rest.popFirst() else {
                    throw RelayError(.invalidArgument, "\(option) lacks its value; --help shows all options")
                }
                switch option {
                case "--bus": bus = .address(value)
                case "--service": service = value
                case "--title": title = value
                case "--report": report = value
                default: pictures = value
                }
            default: throw RelayError(.invalidArgument, "there is no option \(option); --help shows all")
            }
        }
    }
}
