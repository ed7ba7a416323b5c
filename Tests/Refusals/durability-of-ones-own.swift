// expect: cannot inherit from non-open class 'InterfaceDurability'
import RelayCore
final class Forever: InterfaceDurability, @unchecked Sendable {}
