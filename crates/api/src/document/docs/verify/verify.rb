require "openssl"

# raw_body is request.body.read, before any JSON parsing.
def verify(raw_body, header, secret, now_s = Time.now.to_i)
  pairs = header.split(",").map { |part| part.strip.split("=", 2) }
  t = pairs.assoc("t")&.last.to_s
  return false if !t.match?(/\A[0-9]+\z/) || (now_s - t.to_i).abs > 300

  expected = OpenSSL::HMAC.hexdigest("SHA256", secret, "#{t}.".b + raw_body.b)
  given = pairs.select { |name, _| name == "v1" }.map(&:last)
  given.any? { |value| OpenSSL.secure_compare(expected, value.to_s) }
end
