import Glibc
import TestTraits

/// How long the tests of this target are: as part of every run, or when `make soak` asks for more.
enum Endurance {
    static func count(_ short: Int, soak: Int) -> Int { TestForm.rounds(short, soak: soak) }
    /// Another one each run, unless `RELAY_SEED` repeats one. Every test says its own.
    static let seed: UInt64 =
        getenv("RELAY_SEED").flatMap { UInt64(String(cString: $0)) } ?? UInt64.random(in: 1...999_999)
}
