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
// signal-bench starts the peers beside it: swift build -c release --package-path Benchmarks first.
// Debian 12's, and 13's.
let iceoryx = ["/usr/include/iceoryx/v2.0.3", "/usr/include/iceoryx/v2.0.6"]

let package = Package(
    name: "benchmarks",
    dependencies: [.package(name: "relay", path: "..")],
    targets: [
        .executableTarget(
            name: "publish-bench", dependencies: [.product(name: "RelayCore", package: "relay")],
            path: "publish-bench", swiftSettings: strict),
        .systemLibrary(name: "CLibDBus", path: "CLibDBus", pkgConfig: "dbus-1", providers: [.apt(["libdbus-1-dev"])]),
        .systemLibrary(
            name: "CSDBus", path: "CSDBus", pkgConfig: "libsystemd", providers: [.apt(["libsystemd-dev"])]),
        .target(name: "PeerSupport", path: "peer-support", cSettings: optimised),
        .executableTarget(
            name: "libdbus-peer", dependencies: ["PeerSupport", "CLibDBus"], path: "libdbus-peer", cSettings: optimised),
        .executableTarget(
            name: "sdbus-peer", dependencies: ["PeerSupport", "CSDBus"], path: "sdbus-peer", cSettings: optimised),
        .executableTarget(
            name: "relay-peer", dependencies: ["PeerSupport", .product(name: "RelayCore", package: "relay")],
            path: "relay-peer", swiftSettings: strict),
        .executableTarget(
            name: "signal-bench", dependencies: [.product(name: "RelayTestKit", package: "relay")],
            path: "signal-bench", swiftSettings: strict),
        .systemLibrary(
            name: "CPlainSQLite", path: "CPlainSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
        .target(name: "SyncCount", path: "sync-count", cSettings: optimised),
        .executableTarget(
            name: "sqlite-peer", dependencies: ["CPlainSQLite"], path: "sqlite-peer", cSettings: optimised),
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
                transportSupport, .product(name: "transport-ring", package: "relay"),
                .product(name: "RelayTestKit", package: "relay"),
            ],
            path: "transport-bench", swiftSettings: strict),
    ],
    cxxLanguageStandard: .cxx17
)
