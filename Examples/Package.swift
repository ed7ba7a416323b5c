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
    ]
)
