package githubtest

// queryRepository serves query { repository(owner:, name:) { … } }.
func (s *Server) queryRepository(id *identity, root field) (any, error) {
	owner, _ := root.args["owner"].(string)
	name, _ := root.args["name"].(string)
	repo := s.lookup(owner + "/" + name)
	if repo == nil {
		return nil, &graphError{"NOT_FOUND", "Could not resolve to a Repository with the name '" + owner + "/" + name + "'."}
	}
	return object{"databaseId": float64(repo.id), "nameWithOwner": repo.name}, nil
}
