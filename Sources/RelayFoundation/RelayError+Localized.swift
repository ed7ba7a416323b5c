public import Foundation
public import RelayEvents

/// `localizedDescription` is the error's message, not "The operation could not be completed".
extension RelayError: LocalizedError {
    public var errorDescription: String? { message }
}
