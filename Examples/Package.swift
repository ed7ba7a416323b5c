// swift-tools-version: 6.2
import PackageDescription

// What a user of the library writes: a contract that both sides import, a service, a front end, a program without a bus; and a shop.
// README shows these files.
let package = Package(
    name: "examples",
    dependencies: [.package(name: "relay", path: "..")],
    targets: [
        .target(name: "Printing", dependencies: [.product(name: "RelayCore", package: "relay")], path: "Printing"),
        .executableTarget(
            name: "print-service",
            dependencies: [
                "Printing", .product(name: "RelayCore", package: "relay"),
                .product(name: "RelayJournal", package: "relay"),
            ],
            path: "print-service"),
        .executableTarget(
            name: "print-frontend", dependencies: ["Printing", .product(name: "RelayCore", package: "relay")],
            path: "print-frontend"),
        .executableTarget(
            name: "in-process", dependencies: [.product(name: "RelayEvents", package: "relay")], path: "in-process"),
        // The shop: see shop/README.md.
        .target(name: "Shop", dependencies: [.product(name: "RelayCore", package: "relay")], path: "shop/Shop"),
        .target(
            name: "ShopDesk",
            dependencies: [
                "Shop", .product(name: "RelayCore", package: "relay"), .product(name: "RelayJournal", package: "relay"),
            ], path: "shop/ShopDesk"),
        .target(
            name: "ShopViews", dependencies: ["Shop", .product(name: "RelayCore", package: "relay")],
            path: "shop/ShopViews"),
        .executableTarget(
            name: "shop-service",
            dependencies: [
                "Shop", "ShopDesk", .product(name: "RelayCore", package: "relay"),
                .product(name: "RelayJournal", package: "relay"),
            ], path: "shop/shop-service"),
        .executableTarget(
            name: "shop-cli", dependencies: ["Shop", "ShopViews", .product(name: "RelayCore", package: "relay")],
            path: "shop/shop-cli"),
        .testTarget(
            name: "ShopTests",
            dependencies: [
                "Shop", "ShopDesk", "ShopViews", .product(name: "RelayCore", package: "relay"),
                .product(name: "RelayJournal", package: "relay"), .product(name: "RelayTestKit", package: "relay"),
            ], path: "shop/ShopTests"),
        // From a view to a service and back, without a cycle: see track-summary/README.md.
        .systemLibrary(
            name: "CGPXExpat", path: "track-summary/CGPXExpat", pkgConfig: "expat",
            providers: [.apt(["libexpat1-dev"])]),
        .target(name: "TrackFile", dependencies: ["CGPXExpat"], path: "track-summary/TrackFile"),
        .target(
            name: "Tracks", dependencies: [.product(name: "RelayCore", package: "relay")],
            path: "track-summary/Tracks"),
        .target(
            name: "TrackDesk",
            dependencies: [
                "TrackFile", "Tracks", .product(name: "RelayCore", package: "relay"),
                .product(name: "RelayJournal", package: "relay"),
            ], path: "track-summary/TrackDesk"),
        .target(
            name: "TrackViews", dependencies: [.product(name: "RelayEvents", package: "relay")],
            path: "track-summary/TrackViews"),
        .target(
            name: "TrackFrontend",
            dependencies: ["TrackViews", "Tracks", .product(name: "RelayCore", package: "relay")],
            path: "track-summary/TrackFrontend"),
        .executableTarget(
            name: "track-summary",
            dependencies: [
                "TrackDesk", "TrackFrontend", "Tracks", .product(name: "RelayCore", package: "relay"),
                .product(name: "RelayJournal", package: "relay"),
            ], path: "track-summary/track-summary"),
        .testTarget(
            name: "TrackTests",
            dependencies: [
                "TrackDesk", "TrackFile", "TrackFrontend", "TrackViews", "Tracks",
                .product(name: "RelayCore", package: "relay"), .product(name: "RelayJournal", package: "relay"),
                .product(name: "RelayTestKit", package: "relay"),
            ], path: "track-summary/TrackTests"),
        // Objects with an identity: see canvas/README.md.
        .target(
            name: "Canvases", dependencies: [.product(name: "RelayEvents", package: "relay")], path: "canvas/Canvases"),
        .executableTarget(
            name: "canvas-demo", dependencies: ["Canvases", .product(name: "RelayEvents", package: "relay")],
            path: "canvas/canvas-demo"),
        .testTarget(
            name: "CanvasTests",
            dependencies: [
                "Canvases", .product(name: "RelayCore", package: "relay"),
                .product(name: "RelayTestKit", package: "relay"),
            ], path: "canvas/CanvasTests"),
        // Events from deep in a view hierarchy: see analytics/README.md.
        .target(
            name: "AnalyticsViews", dependencies: [.product(name: "RelayEvents", package: "relay")],
            path: "analytics/AnalyticsViews"),
        .target(
            name: "Analytics", dependencies: ["AnalyticsViews", .product(name: "RelayCore", package: "relay")],
            path: "analytics/Analytics"),
        .target(
            name: "AnalyticsDesk", dependencies: ["Analytics", .product(name: "RelayCore", package: "relay")],
            path: "analytics/AnalyticsDesk"),
        .executableTarget(
            name: "analytics-demo",
            dependencies: [
                "Analytics", "AnalyticsDesk", "AnalyticsViews", .product(name: "RelayCore", package: "relay"),
            ], path: "analytics/analytics-demo"),
        .testTarget(
            name: "AnalyticsTests",
            dependencies: [
                "Analytics", "AnalyticsDesk", "AnalyticsViews", .product(name: "RelayCore", package: "relay"),
                .product(name: "RelayTestKit", package: "relay"),
            ], path: "analytics/AnalyticsTests"),
        // One document, several views: see document-view/README.md.
        .target(
            name: "Scores", dependencies: [.product(name: "RelayCore", package: "relay")], path: "document-view/Scores"),
        .executableTarget(
            name: "score", dependencies: ["Scores", .product(name: "RelayCore", package: "relay")],
            path: "document-view/score"),
        .testTarget(
            name: "ScoreTests",
            dependencies: [
                "Scores", .product(name: "RelayCore", package: "relay"),
                .product(name: "RelayTestKit", package: "relay"),
            ], path: "document-view/ScoreTests"),
        // Ten services on one screen: see fleet/README.md.
        .target(name: "Fleet", dependencies: [.product(name: "RelayCore", package: "relay")], path: "fleet/Fleet"),
        .target(
            name: "FleetViews", dependencies: ["Fleet", .product(name: "RelayCore", package: "relay")],
            path: "fleet/FleetViews"),
        .executableTarget(
            name: "fleet-unit",
            dependencies: [
                "Fleet", .product(name: "RelayCore", package: "relay"),
                .product(name: "RelayJournal", package: "relay"),
            ], path: "fleet/fleet-unit"),
        .executableTarget(
            name: "fleet-dashboard",
            dependencies: ["Fleet", "FleetViews", .product(name: "RelayCore", package: "relay")],
            path: "fleet/fleet-dashboard"),
        .testTarget(
            name: "FleetTests",
            dependencies: [
                "Fleet", "FleetViews", "fleet-unit", .product(name: "RelayCore", package: "relay"),
                .product(name: "RelayTestKit", package: "relay"),
            ], path: "fleet/FleetTests"),
        // 20,000 rows in a GTK list: see order-list/README.md. The window is below.
        .target(
            name: "OrderList", dependencies: [.product(name: "RelayCore", package: "relay")],
            path: "order-list/OrderList"),
        .executableTarget(
            name: "order-service",
            dependencies: [
                "OrderList", .product(name: "RelayCore", package: "relay"),
                .product(name: "RelayJournal", package: "relay"),
            ], path: "order-list/order-service"),
        // A command behind polkit: see guarded-service/README.md.
        .target(
            name: "PrintQueue", dependencies: [.product(name: "RelayCore", package: "relay")],
            path: "guarded-service/PrintQueue"),
        .executableTarget(
            name: "print-queue-service",
            dependencies: [
                "PrintQueue", .product(name: "RelayCore", package: "relay"),
                .product(name: "RelayJournal", package: "relay"),
            ], path: "guarded-service/print-queue-service"),
        .executableTarget(
            name: "print-queue", dependencies: ["PrintQueue", .product(name: "RelayCore", package: "relay")],
            path: "guarded-service/print-queue"),
        // Two services, followed and joined: see two-sources/README.md.
        .target(
            name: "Settlements", dependencies: [.product(name: "RelayCore", package: "relay")],
            path: "two-sources/Settlements"),
        .executableTarget(
            name: "settlement-source",
            dependencies: [
                "Settlements", .product(name: "RelayCore", package: "relay"),
                .product(name: "RelayJournal", package: "relay"),
            ], path: "two-sources/settlement-source"),
        .executableTarget(
            name: "settlement-service",
            dependencies: [
                "Settlements", .product(name: "RelayCore", package: "relay"),
                .product(name: "RelayJournal", package: "relay"),
            ], path: "two-sources/settlement-service"),
        // 100,000 events a second: see percentiles/README.md.
        .target(
            name: "Requests", dependencies: [.product(name: "RelayCore", package: "relay")],
            path: "percentiles/Requests"),
        .executableTarget(
            name: "request-service", dependencies: ["Requests", .product(name: "RelayCore", package: "relay")],
            path: "percentiles/request-service"),
        .executableTarget(
            name: "percentiles", dependencies: ["Requests", .product(name: "RelayCore", package: "relay")],
            path: "percentiles/percentiles"),
        // A front end without a bus: see front-end-tests/README.md.
        .target(
            name: "Tickets", dependencies: [.product(name: "RelayCore", package: "relay")],
            path: "front-end-tests/Tickets"),
        .target(
            name: "TicketViews", dependencies: ["Tickets", .product(name: "RelayCore", package: "relay")],
            path: "front-end-tests/TicketViews"),
        .testTarget(
            name: "TicketTests",
            dependencies: [
                "Tickets", "TicketViews", .product(name: "RelayCore", package: "relay"),
                .product(name: "RelayTestKit", package: "relay"),
            ], path: "front-end-tests/TicketTests"),
        // A contract's second version, with front ends of the first: see two-versions/README.md.
        .target(
            name: "Parking", dependencies: [.product(name: "RelayCore", package: "relay")],
            path: "two-versions/Parking"),
        .executableTarget(
            name: "parking-service",
            dependencies: [
                "Parking", .product(name: "RelayCore", package: "relay"),
                .product(name: "RelayJournal", package: "relay"),
            ], path: "two-versions/parking-service"),
        .executableTarget(
            name: "parking-sign", dependencies: ["Parking", .product(name: "RelayCore", package: "relay")],
            path: "two-versions/parking-sign"),
    ]
)

// The window of order-list needs GTK.
if Context.environment["RELAY_WITH_DESKTOP"] == "1" {
    package.targets += [
        .systemLibrary(
            name: "CGTK", path: "moving-house/CGTK", pkgConfig: "gtk4", providers: [.apt(["libgtk-4-dev"])]),
        .executableTarget(
            name: "order-list",
            dependencies: [
                "CGTK", "OrderList", .product(name: "RelayCore", package: "relay"),
                .product(name: "RelayGLib", package: "relay"),
            ], path: "order-list/order-list"),
    ]
}
