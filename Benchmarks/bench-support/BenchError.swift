/// Why a benchmark could not run.
public struct BenchError: Error {
    public let message: String
    public var exitCode: Int32 = 1
    public init(message: String, exitCode: Int32 = 1) { (self.message, self.exitCode) = (message, exitCode) }
}
