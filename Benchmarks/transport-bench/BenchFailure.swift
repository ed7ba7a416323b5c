/// Why the benchmark could not run, or was told something that it does not know.
struct BenchFailure: Error {
    let message: String
    var exitCode: Int32 = 1
}
