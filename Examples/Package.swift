// swift-tools-version: 6.2
import PackageDescription

// What a user of the library writes: a contract that both sides import, a service, a front end, and a program without a bus.
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
    ]
)
