// swift-tools-version: 6.2
import PackageDescription

let strict: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .treatAllWarnings(as: .error),
]
// The C peers are what ours is measured against: optimised in every configuration.
let optimised: [CSetting] = [.unsafeFlags(["-O2", "-Wall", "-Wextra", "-Werror"])]

// The peers' common part, and the report: in the other package, where the ring's peer needs the one and tests try the other.
let transportSupport: Target.Dependency = .product(name: "TransportSupport", package: "relay")

// One folder for each executable. Run one: swift run -c release --package-path Benchmarks publish-bench
// signal-bench and command-bench start the peers beside them: swift build -c release --package-path Benchmarks first.
// Debian 12's, and 13's.
let iceoryx = ["/usr/include/iceoryx/v2.0.3", "/usr/include/iceoryx/v2.0.6"]

let package = Package(
    name: "benchmarks",
    dependencies: [.package(name: "relay", path: "..")],
    targets: [
        .executableTarget(
            name: "publish-bench", dependencies: [.product(name: "RelayCore", package: "relay")],
            path: "publish-bench", swiftSettings: strict),
        .target(name: "MutexRing", path: "mutex-ring", cSettings: optimised),
        .executableTarget(
            name: "service-bench",
            dependencies: [
                "BenchSupport", "MutexRing", .product(name: "RelayCore", package: "relay"),
                .product(name: "RelayTestKit", package: "relay"),
            ], path: "service-bench", swiftSettings: strict),
        .systemLibrary(name: "CLibDBus", path: "CLibDBus", pkgConfig: "dbus-1", providers: [.apt(["libdbus-1-dev"])]),
        .systemLibrary(
            name: "CSDBus", path: "CSDBus", pkgConfig: "libsystemd", providers: [.apt(["libsystemd-dev"])]),
        .target(name: "PeerSupport", path: "peer-support", cSettings: optimised),
        .executableTarget(
            name: "libdbus-peer", dependencies: ["PeerSupport", "CLibDBus"], path: "libdbus-peer", cSettings: optimised),
        .executableTarget(
            name: "sdbus-peer", dependencies: ["PeerSupport", "JournalRows", "CSDBus"], path: "sdbus-peer",
            cSettings: optimised),
        .systemLibrary(name: "CGIO", path: "CGIO", pkgConfig: "gio-2.0", providers: [.apt(["libglib2.0-dev"])]),
        .executableTarget(
            name: "gdbus-peer", dependencies: ["PeerSupport", "CGIO"], path: "gdbus-peer", cSettings: optimised),
        .executableTarget(
            name: "relay-peer",
            dependencies: [
                "PeerSupport", "CSDBus", .product(name: "RelayCore", package: "relay"),
                .product(name: "RelayJournal", package: "relay"),
            ], path: "relay-peer", swiftSettings: strict),
        // Starts peers, and looks at what they took.
        .target(name: "BenchSupport", path: "bench-support", swiftSettings: strict),
        .executableTarget(
            name: "signal-bench", dependencies: ["BenchSupport", .product(name: "RelayTestKit", package: "relay")],
            path: "signal-bench", swiftSettings: strict),
        .executableTarget(
            name: "command-bench",
            dependencies: ["BenchSupport", transportSupport, .product(name: "RelayTestKit", package: "relay")],
            path: "command-bench", swiftSettings: strict),
        .systemLibrary(
            name: "CPlainSQLite", path: "CPlainSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
        .target(name: "JournalRows", dependencies: ["CPlainSQLite"], path: "journal-rows", cSettings: optimised),
        .target(name: "SyncCount", path: "sync-count", cSettings: optimised),
        .executableTarget(
            name: "sqlite-peer", dependencies: ["PeerSupport", "JournalRows"], path: "sqlite-peer",
            cSettings: optimised),
        .executableTarget(
            name: "journal-bench",
            dependencies: [
                "SyncCount", .product(name: "RelayCore", package: "relay"),
                .product(name: "RelayJournal", package: "relay"),
            ],
            path: "journal-bench", swiftSettings: strict),
        .target(
            name: "ReplayScan", dependencies: ["CPlainSQLite"], path: "replay-scan", cSettings: optimised),
        .executableTarget(
            name: "replay-bench",
            dependencies: [
                // Is built beside it.
                .product(name: "relay-bench", package: "relay"),
                "ReplayScan",
                .product(name: "RelayCore", package: "relay"), .product(name: "RelayJournal", package: "relay"),
                .product(name: "RelayTestKit", package: "relay"),
            ], path: "replay-bench", swiftSettings: strict),
        // transport-bench starts these beside it: ours, and what it is measured against.
        .executableTarget(
            name: "transport-relay", dependencies: [transportSupport, .product(name: "RelayCore", package: "relay")],
            path: "transport-relay", swiftSettings: strict),
        .executableTarget(
            name: "transport-bare", dependencies: [transportSupport], path: "transport-bare", cSettings: optimised),
        .executableTarget(
            name: "transport-datagram", dependencies: [transportSupport], path: "transport-datagram",
            cSettings: optimised),
        // Without pkg-config: libzmq's file names folders of other libraries, which SwiftPM refuses.
        .executableTarget(
            name: "transport-zeromq", dependencies: [transportSupport], path: "transport-zeromq", cSettings: optimised,
            linkerSettings: [.linkedLibrary("zmq")]),
        // Debian's package has no pkg-config file.
        .executableTarget(
            name: "transport-iceoryx", dependencies: [transportSupport], path: "transport-iceoryx",
            cxxSettings: [.unsafeFlags(["-O2"] + iceoryx.flatMap { ["-isystem", $0] })],
            linkerSettings: [
                .linkedLibrary("iceoryx_posh"), .linkedLibrary("iceoryx_hoofs"), .linkedLibrary("iceoryx_platform"),
            ]),
        .executableTarget(
            name: "transport-bench",
            dependencies: [
                "BenchSupport", transportSupport, .product(name: "transport-ring", package: "relay"),
                .product(name: "RelayTestKit", package: "relay"),
            ],
            path: "transport-bench", swiftSettings: strict),
    ],
    cxxLanguageStandard: .cxx17
)
