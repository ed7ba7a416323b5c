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
let laneSupport: Target.Dependency = .product(name: "LaneSupport", package: "relay")

// One folder for each executable. Run one: swift run -c release --package-path Benchmarks publish-bench
// signal-bench starts the peers beside it: swift build -c release --package-path Benchmarks first.
let package = Package(
    name: "benchmarks",
    dependencies: [.package(name: "relay", path: "..")],
    targets: [
        .executableTarget(
            name: "publish-bench", dependencies: [.product(name: "RelayCore", package: "relay")],
            path: "publish-bench", swiftSettings: strict),
        .systemLibrary(name: "CLibDBus", path: "CLibDBus", pkgConfig: "dbus-1", providers: [.apt(["libdbus-1-dev"])]),
        .systemLibrary(
            name: "CSystemd", path: "CSystemd", pkgConfig: "libsystemd", providers: [.apt(["libsystemd-dev"])]),
        .target(name: "PeerSupport", path: "peer-support", cSettings: optimised),
        .executableTarget(
            name: "libdbus-peer", dependencies: ["PeerSupport", "CLibDBus"], path: "libdbus-peer", cSettings: optimised),
        .executableTarget(
            name: "sdbus-peer", dependencies: ["PeerSupport", "CSystemd"], path: "sdbus-peer", cSettings: optimised),
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
        // lane-bench starts these beside it: ours, and what it is measured against.
        .executableTarget(
            name: "lane-ours", dependencies: [laneSupport, .product(name: "RelayCore", package: "relay")],
            path: "lane-ours", swiftSettings: strict),
        .executableTarget(name: "lane-bare", dependencies: [laneSupport], path: "lane-bare", cSettings: optimised),
        .executableTarget(
            name: "lane-datagram", dependencies: [laneSupport], path: "lane-datagram", cSettings: optimised),
        // Without pkg-config: libzmq's file names folders of other libraries, which SwiftPM refuses.
        .executableTarget(
            name: "lane-zeromq", dependencies: [laneSupport], path: "lane-zeromq", cSettings: optimised,
            linkerSettings: [.linkedLibrary("zmq")]),
        // Debian's package has no pkg-config file.
        .executableTarget(
            name: "lane-iceoryx", dependencies: [laneSupport], path: "lane-iceoryx",
            cxxSettings: [.unsafeFlags(["-O2", "-isystem", "/usr/include/iceoryx/v2.0.3"])],
            linkerSettings: [
                .linkedLibrary("iceoryx_posh"), .linkedLibrary("iceoryx_hoofs"), .linkedLibrary("iceoryx_platform"),
            ]),
        .executableTarget(
            name: "lane-bench",
            dependencies: [
                laneSupport, .product(name: "lane-ring", package: "relay"),
                .product(name: "RelayTestKit", package: "relay"),
            ],
            path: "lane-bench", swiftSettings: strict),
    ],
    cxxLanguageStandard: .cxx17
)
