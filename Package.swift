// swift-tools-version: 6.2
import PackageDescription

// No warning is an error here: it would be one for all who depend on this package, too. scripts/check-warnings refuses ours.
let strict: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
]

// `make release` names them: what `--version` says.
let build: [CSetting] = ["RELAY_COMMIT", "RELAY_TOOLCHAIN"].compactMap { name in
    Context.environment[name].map { .define(name, to: "\"\($0)\"") }
}

let package = Package(
    name: "relay",
    products: [
        .library(name: "RelayEvents", targets: ["RelayEvents"]),
        .library(name: "RelayCore", targets: ["RelayCore"]),
        .library(name: "RelayJournal", targets: ["RelayJournal"]),
        .library(name: "RelayFoundation", targets: ["RelayFoundation"]),
        .library(name: "RelayGLib", targets: ["RelayGLib"]),
        .library(name: "RelayInspection", targets: ["RelayInspection"]),
        .library(name: "RelaySystemd", targets: ["RelaySystemd"]),
        .library(name: "RelayTestKit", targets: ["RelayTestKit"]),
        .library(name: "RelayWire", targets: ["RelayWire"]),
        .library(name: "Relocation", targets: ["Relocation"]),
        .library(name: "Telemetry", targets: ["Telemetry"]),
        .executable(name: "relay-bridge", targets: ["relay-bridge"]),
        .executable(name: "relay-service", targets: ["relay-service"]),
        .executable(name: "relay-cli", targets: ["relay-cli"]),
        // For Benchmarks/Package.swift alone.
        .executable(name: "transport-ring", targets: ["transport-ring"]),
        .executable(name: "relay-bench", targets: ["relay-bench"]),
        .library(name: "TransportSupport", targets: ["CTransportSupport", "TransportReport"]),
    ],
    targets: [
        .systemLibrary(name: "CDBus", pkgConfig: "dbus-1", providers: [.apt(["libdbus-1-dev"])]),
        .systemLibrary(name: "CExpat", pkgConfig: "expat", providers: [.apt(["libexpat1-dev"])]),
        .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
        .systemLibrary(name: "CNats", pkgConfig: "libnats", providers: [.apt(["libnats-dev"])]),
        .systemLibrary(name: "CGLib", pkgConfig: "glib-2.0", providers: [.apt(["libglib2.0-dev"])]),
        .systemLibrary(name: "CSystemd", pkgConfig: "libsystemd", providers: [.apt(["libsystemd-dev"])]),
        .target(name: "CRelayShims"),
        .target(name: "CRelayVersion", cSettings: build),
        // In process, and what a contract is made of: no bus, no shared memory. Usable alone.
        .target(name: "RelayEvents", dependencies: ["CRelayShims"], swiftSettings: strict),
        // D-Bus's wire format, and services without Swift types: pure, no I/O.
        .target(name: "RelayWire", dependencies: ["RelayEvents"], swiftSettings: strict),
        // What services, relays and journals count: values alone.
        .target(name: "RelayInspection", dependencies: ["RelayEvents"], swiftSettings: strict),
        // Connections to a bus, and their loops: the only target that calls libdbus. Comes with RelayCore.
        .target(name: "RelayBus", dependencies: ["RelayWire", "CDBus", "CRelayShims"], swiftSettings: strict),
        // Child processes, and bus daemons of one's own: for programs and tests.
        .target(name: "BusProcess", dependencies: ["RelayCore", "CRelayShims"], swiftSettings: strict),
        .target(
            name: "RelayCore",
            dependencies: ["RelayBus", "RelayEvents", "RelayInspection", "RelayWire", "CRelayShims"],
            swiftSettings: strict),
        .target(name: "RelayJournal", dependencies: ["RelayCore", "CSQLite", "CRelayShims"], swiftSettings: strict),
        // Replicas of other machines' streams. The core does not know of it.
        .target(
            name: "RelayMirrors", dependencies: ["RelayCore", "RelayJournal", "CRelayShims"], swiftSettings: strict),
        // Tells systemd how a service is. The core does not link its library.
        .target(name: "RelaySystemd", dependencies: ["RelayCore", "CSystemd"], swiftSettings: strict),
        // Between Relay's values and Foundation's: for programs that import it anyway.
        .target(name: "RelayFoundation", dependencies: ["RelayEvents"], swiftSettings: strict),
        // Delivery on GLib's main loops: for GTK programs. Nothing else links its library.
        .target(name: "RelayGLib", dependencies: ["RelayEvents", "CGLib"], swiftSettings: strict),
        // SQLite's file layer with faults: for tests alone.
        .target(name: "CFaultVFS", dependencies: ["CSQLite"]),
        .target(
            name: "RelayTestKit", dependencies: ["BusProcess", "RelayCore", "RelayJournal", "CFaultVFS", "CSQLite"],
            swiftSettings: strict),
        .target(name: "Relocation", dependencies: ["RelayCore"], swiftSettings: strict),
        .target(
            name: "RelocationDomain", dependencies: ["RelayCore", "RelayJournal", "Relocation"], swiftSettings: strict),
        .target(name: "Telemetry", dependencies: ["RelayCore"], swiftSettings: strict),
        .target(
            name: "TelemetryDomain", dependencies: ["RelayCore", "Telemetry"], swiftSettings: strict),
        // What the two programs share: options, exit codes, where the private bus is.
        .target(
            name: "RelayTool", dependencies: ["BusProcess", "RelayCore", "CRelayShims", "CRelayVersion"],
            swiftSettings: strict),
        // What the daemons share: their log, and how they end.
        .target(
            name: "RelayDaemon", dependencies: ["RelayCore", "RelayJournal", "RelaySystemd", "RelayTool"],
            swiftSettings: strict),
        // Channels in NATS. Nothing else links its library.
        .target(
            name: "RelayBridge", dependencies: ["RelayCore", "RelayMirrors", "RelayTool", "CNats"],
            swiftSettings: strict),
        .executableTarget(
            name: "relay-bridge",
            dependencies: [
                "RelayBridge", "RelayCore", "RelayDaemon", "RelayJournal", "RelayMirrors", "RelaySystemd", "RelayTool",
            ], swiftSettings: strict),
        .executableTarget(
            name: "relay-service",
            dependencies: [
                "BusProcess", "RelayCore", "RelayDaemon", "RelayJournal", "RelaySystemd", "RelayTool", "Relocation",
                "RelocationDomain",
                "Telemetry", "TelemetryDomain",
            ], swiftSettings: strict),
        .executableTarget(
            name: "relay-cli", dependencies: ["BusProcess", "RelayCore", "RelayTool", "CExpat", "CRelayShims"],
            swiftSettings: strict),
        .testTarget(
            name: "RelayEventsTests", dependencies: ["RelayEvents", "RelayTestKit", "TestTraits"], swiftSettings: strict
        ),
        .testTarget(
            name: "RelayWireTests", dependencies: ["RelayWire", "TestTraits", "WireSupport", "CDBus"],
            swiftSettings: strict),
        .testTarget(
            name: "RelayCoreTests",
            dependencies: [
                "BusProcess", "RelayBus", "RelayCore", "RelayTestKit", "TestTraits", "WireSupport", "CDBus",
                "CRelayShims", "CRingAttack",
            ],
            exclude: ["Access/process_fd_bus.py"], swiftSettings: strict),
        .testTarget(
            name: "RelayTestKitTests", dependencies: ["RelayCore", "RelayJournal", "RelayTestKit", "TestTraits"],
            swiftSettings: strict),
        .testTarget(
            name: "RelayJournalTests",
            dependencies: ["RelayJournal", "RelayTestKit", "TestSupport", "TestTraits", "CSQLite"],
            swiftSettings: strict),
        .testTarget(
            name: "RelayMirrorsTests",
            dependencies: [
                "RelayCore", "RelayInspection", "RelayJournal", "RelayMirrors", "RelayTestKit", "TestSupport",
                "TestTraits",
            ], swiftSettings: strict),
        .testTarget(
            name: "RelayBridgeTests",
            dependencies: [
                "NatsSupport", "RelayBridge", "RelayCore", "RelayJournal", "RelayMirrors", "RelayTestKit",
                "TestTraits", "CNats",
            ], swiftSettings: strict),
        .testTarget(
            name: "RelaySystemdTests",
            dependencies: ["RelayCore", "RelayJournal", "RelaySystemd", "RelayTestKit", "TestTraits"],
            swiftSettings: strict),
        .testTarget(
            name: "RelayFoundationTests", dependencies: ["RelayEvents", "RelayFoundation", "RelayWire"],
            swiftSettings: strict),
        .testTarget(
            name: "RelocationDomainTests",
            dependencies: ["RelocationDomain", "RelayJournal", "RelayTestKit", "TestSupport", "TestTraits"],
            swiftSettings: strict),
        .testTarget(
            name: "TelemetryDomainTests", dependencies: ["TelemetryDomain", "Telemetry", "RelayTestKit", "TestTraits"],
            swiftSettings: strict),
        .testTarget(
            name: "RelayToolTests",
            dependencies: [
                "relay-bridge", "relay-service", "RelayBridge", "RelayDaemon", "RelayTool", "RelayTestKit",
                "TestTraits",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "RelayCLITests", dependencies: ["relay-cli", "RelayTool", "RelayTestKit", "TestTraits"],
            swiftSettings: strict),
        // How tests run beside each other, which form they have, and which clause they try. For test targets alone: it links Testing.
        .target(name: "TestTraits", dependencies: ["RelayEvents"], path: "Tests/Traits", swiftSettings: strict),
        // Bytes for the wire format's readers: libdbus's, and damaged ones.
        .target(
            name: "WireSupport", dependencies: ["RelayWire", "CDBus", "TestTraits"], path: "Tests/WireSupport",
            swiftSettings: strict),
        // Servers of NATS, as processes.
        .target(
            name: "NatsSupport", dependencies: ["RelayCore", "RelayTestKit"], path: "Tests/NatsSupport",
            swiftSettings: strict),
        // What several test targets need, and users do not.
        .target(
            name: "TestSupport", dependencies: ["RelayCore", "Relocation"], path: "Tests/Support", swiftSettings: strict
        ),
        // In this package, not in Benchmarks/Package.swift: the ring is no public API.
        .target(name: "CTransportSupport", path: "Benchmarks/transport-support"),
        .executableTarget(
            name: "transport-ring", dependencies: ["RelayCore", "CTransportSupport"], path: "Benchmarks/transport-ring",
            swiftSettings: strict),
        // In this package, too: a program cannot set how its relay waits.
        .executableTarget(
            name: "relay-bench", dependencies: ["RelayCore", "RelayTestKit"], path: "Benchmarks/relay-bench",
            swiftSettings: strict),
        .executableTarget(
            name: "mirror-bench", dependencies: ["RelayCore", "RelayJournal", "RelayMirrors", "RelayTestKit"],
            path: "Benchmarks/mirror-bench", swiftSettings: strict),
        .executableTarget(
            name: "nats-peer", dependencies: ["CNats", "CSQLite"], path: "Benchmarks/nats-peer"),
        .executableTarget(
            name: "bridge-bench",
            dependencies: [
                "NatsSupport", "RelayBridge", "RelayCore", "RelayJournal", "RelayMirrors", "RelayTestKit", "nats-peer",
            ], path: "Benchmarks/bridge-bench", swiftSettings: strict),
        // What scripts/figures counts the instructions of.
        .executableTarget(
            name: "hot-paths", dependencies: ["RelayCore", "RelayJournal"], path: "Benchmarks/hot-paths",
            swiftSettings: strict),
        // Statistics, tables and the plot: pure, and tested.
        .target(name: "TransportReport", path: "Benchmarks/transport-report", swiftSettings: strict),
        .testTarget(
            name: "TransportReportTests", dependencies: ["TransportReport", "CTransportSupport"], swiftSettings: strict),
        // The ring, with other processes at its ends.
        .target(
            name: "RingSupport", dependencies: ["RelayCore", "CRelayShims"], path: "Tests/RingSupport",
            swiftSettings: strict),
        .target(name: "CRingAttack", path: "Tests/CRingAttack"),
        .executableTarget(
            name: "ring-peer", dependencies: ["RelayCore", "RingSupport", "CRingAttack", "CRelayShims"],
            path: "Tests/RingPeer", swiftSettings: strict),
        .testTarget(
            name: "RingTests",
            dependencies: [
                "BusProcess", "RelayCore", "RelayTestKit", "RingSupport", "TestTraits", "CRingAttack", "CRelayShims",
                "ring-peer",
            ],
            path: "Tests/RingTests", swiftSettings: strict),
        // What the programs print, as files of recorded command lines, beside what they declare.
        .testTarget(
            name: "TranscriptTests",
            dependencies: ["relay-cli", "relay-service", "RelayCore", "RelayTestKit", "RelayTool", "TestTraits"],
            path: "Tests/Transcripts", exclude: ["Files", "README.md", "liar.py"], swiftSettings: strict),
        // Real processes: the programs beside the test bundle, and D-Bus tools that know nothing of ours.
        .testTarget(
            name: "IntegrationTests",
            dependencies: [
                "BusProcess", "RelayCore", "RelayJournal", "RelayTestKit", "Relocation", "Telemetry", "TestTraits",
            ],
            path: "Tests/Integration",
            exclude: [
                "dbus_python_client.py", "dbus_python_enums.py", "hostile_service.py", "property_watcher.py",
                "signal_probe.py",
                "system_log.sh",
            ],
            swiftSettings: strict),
        // Real processes that are killed, and two that end themselves where a test says.
        .executableTarget(
            name: "faulty-service",
            dependencies: [
                "RelayCore", "RelayJournal", "RelayTestKit", "Relocation", "RelocationDomain", "TestSupport",
            ],
            path: "Tests/FaultyService", swiftSettings: strict),
        .executableTarget(
            name: "faulty-watcher", dependencies: ["RelayCore", "RelayTestKit", "TestSupport"],
            path: "Tests/FaultyWatcher",
            swiftSettings: strict),
        // A program in the library's frame, that fails as a test says.
        .executableTarget(
            name: "framed-program", dependencies: ["RelayCore", "RelaySystemd", "TestSupport"],
            path: "Tests/FramedProgram", swiftSettings: strict),
        // Front ends on main loops that are not Swift's.
        .executableTarget(
            name: "main-loops", dependencies: ["RelayCore", "RelayGLib", "Relocation", "TestSupport", "CGLib"],
            path: "Tests/MainLoops", swiftSettings: strict),
        // docs/XPC_MIGRATION.md: its service, and a test for each of its rows.
        .executableTarget(
            name: "print-helper", dependencies: ["RelayCore"], path: "Tests/PrintHelper", swiftSettings: strict),
        .testTarget(
            name: "XPCMigrationTests", dependencies: ["print-helper", "RelayCore", "RelayTestKit", "TestTraits"],
            path: "Tests/XPCMigration", swiftSettings: strict),
        .executableTarget(
            name: "run-peer", dependencies: ["RelayCore", "RelayJournal", "TestSupport"], path: "Tests/RunPeer",
            swiftSettings: strict),
        .testTarget(
            name: "EnduranceTests",
            dependencies: [
                "BusProcess", "NatsSupport", "RelayCore", "RelayTestKit", "Relocation", "TestSupport", "TestTraits",
                "CSQLite", "relay-bridge",
            ],
            path: "Tests/Endurance", swiftSettings: strict),
    ]
)

// README's examples are a package of their own. `make test` builds them as targets of this one, so that Relay is compiled once; the
// names of a package's targets must not be those of the packages that use it, so they are here for that step only.
if Context.environment["RELAY_WITH_EXAMPLES"] == "1" {
    package.targets += [
        .target(name: "Printing", dependencies: ["RelayCore"], path: "Examples/Printing"),
        .executableTarget(
            name: "print-service", dependencies: ["Printing", "RelayCore", "RelayJournal"],
            path: "Examples/print-service"),
        .executableTarget(
            name: "print-frontend", dependencies: ["Printing", "RelayCore"], path: "Examples/print-frontend"),
        .executableTarget(name: "in-process", dependencies: ["RelayEvents"], path: "Examples/in-process"),
        .target(name: "Shop", dependencies: ["RelayCore"], path: "Examples/shop/Shop"),
        .target(name: "ShopDesk", dependencies: ["Shop", "RelayCore", "RelayJournal"], path: "Examples/shop/ShopDesk"),
        .target(name: "ShopViews", dependencies: ["Shop", "RelayCore"], path: "Examples/shop/ShopViews"),
        .executableTarget(
            name: "shop-service", dependencies: ["Shop", "ShopDesk", "RelayCore", "RelayJournal"],
            path: "Examples/shop/shop-service"),
        .executableTarget(
            name: "shop-cli", dependencies: ["Shop", "ShopViews", "RelayCore"], path: "Examples/shop/shop-cli"),
        .testTarget(
            name: "ShopTests",
            dependencies: ["Shop", "ShopDesk", "ShopViews", "RelayCore", "RelayJournal", "RelayTestKit"],
            path: "Examples/shop/ShopTests"),
        .systemLibrary(
            name: "CGPXExpat", path: "Examples/track-summary/CGPXExpat", pkgConfig: "expat",
            providers: [.apt(["libexpat1-dev"])]),
        .target(name: "TrackFile", dependencies: ["CGPXExpat"], path: "Examples/track-summary/TrackFile"),
        .target(name: "Tracks", dependencies: ["RelayCore"], path: "Examples/track-summary/Tracks"),
        .target(
            name: "TrackDesk", dependencies: ["TrackFile", "Tracks", "RelayCore", "RelayJournal"],
            path: "Examples/track-summary/TrackDesk"),
        .target(name: "TrackViews", dependencies: ["RelayEvents"], path: "Examples/track-summary/TrackViews"),
        .target(
            name: "TrackFrontend", dependencies: ["TrackViews", "Tracks", "RelayCore"],
            path: "Examples/track-summary/TrackFrontend"),
        .executableTarget(
            name: "track-summary", dependencies: ["TrackDesk", "TrackFrontend", "Tracks", "RelayCore", "RelayJournal"],
            path: "Examples/track-summary/track-summary"),
        .testTarget(
            name: "TrackTests",
            dependencies: [
                "TrackDesk", "TrackFile", "TrackFrontend", "TrackViews", "Tracks", "RelayCore", "RelayJournal",
                "RelayTestKit",
            ], path: "Examples/track-summary/TrackTests"),
        .target(name: "Canvases", dependencies: ["RelayEvents"], path: "Examples/canvas/Canvases"),
        .executableTarget(
            name: "canvas-demo", dependencies: ["Canvases", "RelayEvents"], path: "Examples/canvas/canvas-demo"),
        .testTarget(
            name: "CanvasTests", dependencies: ["Canvases", "RelayCore", "RelayTestKit"],
            path: "Examples/canvas/CanvasTests"),
        .target(name: "AnalyticsViews", dependencies: ["RelayEvents"], path: "Examples/analytics/AnalyticsViews"),
        .target(
            name: "Analytics", dependencies: ["AnalyticsViews", "RelayCore"], path: "Examples/analytics/Analytics"),
        .target(
            name: "AnalyticsDesk", dependencies: ["Analytics", "RelayCore"], path: "Examples/analytics/AnalyticsDesk"),
        .executableTarget(
            name: "analytics-demo", dependencies: ["Analytics", "AnalyticsDesk", "AnalyticsViews", "RelayCore"],
            path: "Examples/analytics/analytics-demo"),
        .testTarget(
            name: "AnalyticsTests",
            dependencies: ["Analytics", "AnalyticsDesk", "AnalyticsViews", "RelayCore", "RelayTestKit"],
            path: "Examples/analytics/AnalyticsTests"),
        .target(name: "Scores", dependencies: ["RelayCore"], path: "Examples/document-view/Scores"),
        .executableTarget(name: "score", dependencies: ["Scores", "RelayCore"], path: "Examples/document-view/score"),
        .testTarget(
            name: "ScoreTests", dependencies: ["Scores", "RelayCore", "RelayTestKit"],
            path: "Examples/document-view/ScoreTests"),
        .target(name: "Fleet", dependencies: ["RelayCore"], path: "Examples/fleet/Fleet"),
        .target(name: "FleetViews", dependencies: ["Fleet", "RelayCore"], path: "Examples/fleet/FleetViews"),
        .executableTarget(
            name: "fleet-unit", dependencies: ["Fleet", "RelayCore", "RelayJournal"], path: "Examples/fleet/fleet-unit"),
        .executableTarget(
            name: "fleet-dashboard", dependencies: ["Fleet", "FleetViews", "RelayCore"],
            path: "Examples/fleet/fleet-dashboard"),
        .testTarget(
            name: "FleetTests", dependencies: ["Fleet", "FleetViews", "fleet-unit", "RelayCore", "RelayTestKit"],
            path: "Examples/fleet/FleetTests"),
        .target(
            name: "PrintQueue", dependencies: ["RelayCore"],
            path: "Examples/guarded-service/PrintQueue"),
        .executableTarget(
            name: "print-queue-service",
            dependencies: [
                "PrintQueue", "RelayCore",
                "RelayJournal",
            ], path: "Examples/guarded-service/print-queue-service"),
        .executableTarget(
            name: "print-queue", dependencies: ["PrintQueue", "RelayCore"],
            path: "Examples/guarded-service/print-queue"),
        .target(
            name: "Settlements", dependencies: ["RelayCore"],
            path: "Examples/two-sources/Settlements"),
        .executableTarget(
            name: "settlement-source",
            dependencies: [
                "Settlements", "RelayCore",
                "RelayJournal",
            ], path: "Examples/two-sources/settlement-source"),
        .executableTarget(
            name: "settlement-service",
            dependencies: [
                "Settlements", "RelayCore",
                "RelayJournal",
            ], path: "Examples/two-sources/settlement-service"),
        .target(
            name: "Requests", dependencies: ["RelayCore"],
            path: "Examples/percentiles/Requests"),
        .executableTarget(
            name: "request-service", dependencies: ["Requests", "RelayCore"],
            path: "Examples/percentiles/request-service"),
        .executableTarget(
            name: "percentiles", dependencies: ["Requests", "RelayCore"],
            path: "Examples/percentiles/percentiles"),
        .target(
            name: "Tickets", dependencies: ["RelayCore"],
            path: "Examples/front-end-tests/Tickets"),
        .target(
            name: "TicketViews", dependencies: ["Tickets", "RelayCore"],
            path: "Examples/front-end-tests/TicketViews"),
        .testTarget(
            name: "TicketTests",
            dependencies: [
                "Tickets", "TicketViews", "RelayCore",
                "RelayTestKit",
            ], path: "Examples/front-end-tests/TicketTests"),
        .target(
            name: "Parking", dependencies: ["RelayCore"],
            path: "Examples/two-versions/Parking"),
        .executableTarget(
            name: "parking-service",
            dependencies: [
                "Parking", "RelayCore",
                "RelayJournal",
            ], path: "Examples/two-versions/parking-service"),
        .executableTarget(
            name: "parking-sign", dependencies: ["Parking", "RelayCore"],
            path: "Examples/two-versions/parking-sign"),
        // The examples' programs, as processes.
        .testTarget(
            name: "ProgramTests",
            dependencies: [
                "OrderList", "order-service", "parking-service", "parking-sign", "percentiles", "print-queue",
                "print-queue-service", "relay-cli", "request-service", "settlement-service", "settlement-source",
                "RelayCore", "RelayTestKit", "TestTraits",
            ], path: "Tests/Programs", swiftSettings: strict),
        // Examples against mirrors, with the bridge's processes.
        .testTarget(
            name: "HostsTests",
            dependencies: [
                "Fleet", "FleetViews", "fleet-unit", "Shop", "ShopViews", "shop-service", "relay-bridge", "relay-cli",
                "RelayCore",
                "RelayTestKit",
            ], path: "Tests/Hosts", swiftSettings: strict),
    ]
}

// The window of Examples/moving-house. Its view model is built and tested with the other examples; the window itself needs GTK, and has
// a step of its own: `make test-desktop`.
let hasDesktop = Context.environment["RELAY_WITH_DESKTOP"] == "1"
if hasDesktop || Context.environment["RELAY_WITH_EXAMPLES"] == "1" {
    package.targets += [
        .target(
            name: "OrderList", dependencies: ["RelayCore"],
            path: "Examples/order-list/OrderList"),
        .executableTarget(
            name: "order-service",
            dependencies: [
                "OrderList", "RelayCore",
                "RelayJournal",
            ], path: "Examples/order-list/order-service"),
        .target(
            name: "MovingHouse", dependencies: ["Relocation", "RelayCore"], path: "Examples/moving-house/MovingHouse",
            swiftSettings: strict),
        .testTarget(
            name: "MovingHouseTests",
            dependencies: [
                "MovingHouse", "RelayCore", "RelayJournal", "RelayTestKit", "Relocation", "RelocationDomain",
                "TestTraits",
            ],
            path: "Examples/moving-house/MovingHouseTests", swiftSettings: strict),
    ]
}
if hasDesktop {
    package.targets += [
        .systemLibrary(
            name: "CGTK", path: "Examples/moving-house/CGTK", pkgConfig: "gtk4", providers: [.apt(["libgtk-4-dev"])]),
        .executableTarget(
            name: "order-list", dependencies: ["CGTK", "OrderList", "RelayCore", "RelayGLib"],
            path: "Examples/order-list/order-list"),
        .executableTarget(
            name: "moving-house", dependencies: ["CGTK", "MovingHouse", "RelayCore", "RelayGLib", "Relocation"],
            path: "Examples/moving-house/moving-house", swiftSettings: strict),
        .testTarget(
            name: "DesktopTests",
            dependencies: [
                "BusProcess", "CGTK", "RelayCore", "RelayTestKit", "Relocation", "TestTraits", "moving-house",
                "order-list", "order-service",
            ],
            path: "Examples/moving-house/DesktopTests", swiftSettings: strict),
    ]
}

// RELAY_TESTS=RingTests,RelayToolTests builds these test targets alone: for who works on one folder.
if let chosen = Context.environment["RELAY_TESTS"]?.split(separator: ",").map(String.init), !chosen.isEmpty {
    package.targets.removeAll { $0.type == .test && !chosen.contains($0.name) }
}
