/// What a `Subscription` stands for.
package protocol SubscriptionBody: AnyObject, Sendable {
    func cancel()
    var isActive: Bool { get }
    var missed: Int { get }
}
