import Glibc

/// How long the tests of this target are: as part of every run, or when `make soak` asks for more.
enum Endurance {
    static let isSoak = getenv("RELAY_SOAK").map { String(cString: $0) } == "1"
    static func count(_ short: Int, soak: Int) -> Int { isSoak ? soak : short }
    /// Another one each run, unless `RELAY_SEED` repeats one. Every test says its own.
    static let seed: UInt64 =
        getenv("RELAY_SEED").flatMap { UInt64(String(cString: $0)) } ?? UInt64.random(in: 1...999_999)
}
