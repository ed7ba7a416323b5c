import Glibc

/// Which form of a test runs. `make test` has the short ones, `make soak` the deep ones, and `make check` no heavy ones.
public enum TestForm {
    /// The long runs were asked for: RELAY_SOAK=1.
    public static let isSoak = isSet("RELAY_SOAK")
    /// Nothing heavy is wanted: RELAY_QUICK=1, as in `make check`.
    public static let isQuick = isSet("RELAY_QUICK")
    /// Times count: RELAY_LATENCIES=1. In a run of many tests at once, and on a busy machine, they say nothing.
    public static let measuresLatency = isSet("RELAY_LATENCIES")

    /// How many rounds of something: less in the short form.
    public static func rounds(_ short: Int, soak: Int) -> Int { isSoak ? soak : short }

    private static func isSet(_ name: String) -> Bool { getenv(name).map { String(cString: $0) } == "1" }
}
