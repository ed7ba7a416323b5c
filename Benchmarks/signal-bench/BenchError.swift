/// Why the benchmark could not run.
struct BenchError: Error {
    let message: String
    var exitCode: Int32 = 1
}
