// swift-tools-version: 6.2
import PackageDescription

let strict: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .treatAllWarnings(as: .error),
]

// One folder for each executable. Run one: swift run -c release --package-path Benchmarks publish-bench
let package = Package(
    name: "benchmarks",
    dependencies: [.package(name: "relay", path: "..")],
    targets: [
        .executableTarget(
            name: "publish-bench", dependencies: [.product(name: "RelayCore", package: "relay")],
            path: "publish-bench", swiftSettings: strict)
    ]
)
