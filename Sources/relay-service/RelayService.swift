@main struct RelayService { static func main() {} }
